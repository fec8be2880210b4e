import Foundation
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D3 KeyPath", .leavesNothing) struct KeyPathTests {
    private func task(_ json: String) -> DataTask { HTTPClient.stubbed(.json(json)).get("a") }

    private func message(_ json: String, _ path: KeyPath<JSONPath, JSONPath>) async -> String {
        (await failure { try await task(json).keyPath(path).result() } as? HTTPError)?.message ?? ""
    }

    @Test func aPathLeadsIntoTheBody() async throws {
        let json = #"{"data": {"items": [{"id": 1}, {"display-name": "Ann", "id": 2}], "count": 2}, "result": true}"#
        #expect(try await task(json).keyPath(\.result).value(Bool.self))
        #expect(try await task(json).keyPath(\.data.count).value(Int.self) == 2)
        #expect(try await task(json).keyPath(\.data.items[1]["display-name"]).value(String.self) == "Ann")
        #expect(try await task(json).keyPath(\.data.items).keyPath(\.[0].id).value(Int.self) == 1)
        #expect(try await task(json).extractPayload().keyPath(\.data.items[0]).decode([String: Int].self).result() == ["id": 1])
        #expect(try await task(json).keyPath(\.self).data() == Data(json.utf8))
    }

    @Test func theHeadIsKept() async throws {
        let result = try await task(#"{"a": 1}"#).keyPath(\.a).result()
        #expect(result.head.status == .ok)
        #expect(result.payload == Data("1".utf8))
    }

    @Test func aPartIsTakenByteForByte() async throws {
        let number = "12345678901234567890.10"
        #expect(try await task(#"{"a": [ \#(number) ]}"#).keyPath(\.a[0]).string() == number)
        #expect(try await task(#"{"a": { "b" :1.0}  }"#).keyPath(\.a).string() == #"{ "b" :1.0}"#)
    }

    @Test func anyNameMayBeAKey() async throws {
        for name in ["steps", "description", "hash", "keyPath", "ü", "", "a.b", "quote\""] {
            let json = String(decoding: try JSONEncoder().encode([name: 7]), as: UTF8.self)
            #expect(try await task(json).keyPath(\.[name]).value(Int.self) == 7)
        }
        #expect(try await task(#"{"steps": {"description": 7}}"#).keyPath(\.steps.description).value(Int.self) == 7)
    }

    @Test func escapesAndBracketsInsideStringsAreRead() async throws {
        #expect(try await task(#"{"x": "}\\\"]", "\u0061": "\"{"}"#).keyPath(\.a).value(String.self) == "\"{")
    }

    @Test func ofRepeatedKeysTheLastCounts() async throws {
        #expect(try await task(#"{"a": 1, "a": 2}"#).keyPath(\.a).value(Int.self) == 2)
        #expect(try await task(#"{"a": {"b": 1}, "a": {"b": [2]}, "c": {"b": 3}}"#).keyPath(\.a.b[0]).value(Int.self) == 2)
        #expect(await message(#"{"a": {"b": 1}, "a": [1]}"#, \.a.b).contains("a is an array without b."))
        #expect(await message(#"{"a": {"b": 1}, "a": {}}"#, \.a.b).contains("a is an object without b."))
    }

    @Test func namesAreComparedWithoutTheirEscapes() async throws {
        let names = [
            ("\\\"", "\""), ("\\u00fc", "ü"), ("\\uD83D\\uDE00", "\u{1F600}"), ("\\b\\f\\n\\r\\t\\/\\\\", "\u{8}\u{C}\n\r\t/\\"),
            ("\\u0061\\u0062", "ab"),
        ]
        for (written, name) in names {
            #expect(try await task("{\"\(written)\": 7}").keyPath(\.[name]).value(Int.self) == 7)
        }
        for written in ["\\uD83D", "\\uD83Dx", "\\uD83D\\u0061", "\\u12", "\\x", "\\uzzzz"] {
            #expect(await message("{\"\(written)\": 7}", \.a) != "")
        }
    }

    @Test func aMissingPathIsNamed() async throws {
        let json = #"{"data": {"items": [1, 2], "name": "x"}}"#
        #expect(await message(json, \.result).hasPrefix("result isn't in the body: the root is an object without result."))
        #expect(await message(json, \.data.user.id).hasPrefix("data.user.id isn't in the body: data is an object without user."))
        #expect(
            await message(json, \.data.items[5]).hasPrefix(
                "data.items[5] isn't in the body: data.items is an array without [5]."))
        #expect(
            await message(json, \.data.name.first).hasPrefix(
                "data.name.first isn't in the body: data.name is a string without first."))
        #expect(await message(json, \.data.items.first).hasPrefix("data.items.first isn't in the body: data.items is an array "))
        #expect(await message("null", \.a).hasPrefix("a isn't in the body: the root is null without a."))
        #expect(await message("{}", \.["odd-key"].b).contains("without odd-key"))
    }

    @Test(arguments: [
        "", "{", "{\"a\": 1", "{\"a\": 1}}", "{\"a\": [1, 2}}", "{\"a\"}", "{\"a\": \"1}", "<html></html>x", "]", "{\"a\": 1} x",
        "\u{FEFF}",
        ",", "{\"a\" 1}", "{1: 2}", "[1 2]", "{\"a\": 1 \"b\": 2}", "{\"b\": [1,, 2], \"a\": 1}", "{\"a\": 1, \"b\": [}]}",
        "{\"a\":}", "{\"a\": 1,}", "[1",
    ])
    func aBodyThatIsNoJSONIsAnError(json: String) async {
        let error = await failure { try await task(json).keyPath(\.a).value(Int.self) } as? HTTPError
        #expect(error?.code == .decoding)
    }

    @Test func depthIsNoProblem() async throws {
        let depth = 100_000
        let json = #"{"deep": "# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + #", "a": 1}"#
        #expect(try await task(json).keyPath(\.a).value(Int.self) == 1)
    }

    @Test func aByteOrderMarkIsIgnored() async throws {
        #expect(try await task("\u{FEFF}{\"a\": 1}").keyPath(\.a).value(Int.self) == 1)
    }
}
