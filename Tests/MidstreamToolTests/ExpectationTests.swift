import Foundation
import Testing

@testable import MidstreamTool

@Suite("What an answer is expected to say")
struct ExpectationTests {
    private let body = Data(
        #"{"a": 1, "b": {"c d": [true, null, "x"]}, "e": "Ann", "f": 2.5, "g": 9007199254740992, "h": [9007199254740992]}"#.utf8)

    @Test(
        "holds",
        arguments: [
            "json", "json.a", "json.a == 1", "json.a == 1.0", "json.a != 2", "json.a < 1.5", "json.f >= 2.5", "json.e == Ann",
            #"json.e == "Ann""#, "json.e ~ nn", #"json.b["c d"][0] == true"#, #"json.b["c d"][1] == null"#, #"json.b["c d"] ~ x"#,
            "json.none == null", "json.e > Amy", #"json.b == {"c d":[true,null,"x"]}"#,
            "json.g == 9007199254740992", "json.g != 9007199254740993", "json.g < 9007199254740993",
        ])
    func holds(text: String) throws { #expect(try Expectation(text).failure(in: body) == nil) }

    @Test(
        "doesn't hold, and says what is there instead",
        arguments: [
            ("json.a == 2", "it is 1"), ("json.none", "isn't there"), ("json.none == 1", "it is missing"),
            (#"json.b["c d"][0] == 1"#, "it is true"), (#"json.b["c d"][7]"#, "isn't there"), ("json.e > 1", #"it is "Ann""#),
            ("json[0]", "isn't there"), ("json.g == 9007199254740993", "it is 9007199254740992"),
            ("json.g >= 9007199254740993", "it is 9007199254740992"), ("json.h ~ 9007199254740993", "it is [9007199254740992]"),
        ])
    func fails(text: String, reason: String) throws {
        #expect(try Expectation(text).failure(in: body)?.contains(reason) == true)
        #expect(try Expectation(text).failure(in: Data("x".utf8))?.contains("isn't JSON") == true)
    }

    @Test("escapes what would change how a terminal shows the answer")
    func controls() throws {
        let failure = try Expectation("json == 1").failure(in: Data("\"\u{9B}31m\u{202E}\"".utf8))
        #expect(failure == #"json == 1 was expected, and it is "\u{9B}31m\u{202E}""#)
    }

    @Test(
        "is refused where it can't be read",
        arguments: ["", "a", "json.", "json..a", "json.a ==", "json[x]", "jsonx", "json.a = 1"])
    func refused(text: String) { #expect(throws: UsageError.self) { try Expectation(text) } }
}
