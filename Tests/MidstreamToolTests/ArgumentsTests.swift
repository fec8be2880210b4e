import Foundation
import Midstream
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("Numbers on the command line")
struct ArgumentsTests {
    @Test("times that are no number above 0 are wrong usage", arguments: ["-1", "0", "nan", "inf", "-inf", "1e999", "", "1s"])
    func wrongTimes(text: String) {
        for option in ["--timeout", "--deadline"] {
            #expect(throws: UsageError.self) { try Arguments(["get", "h", option, text]) }
        }
    }

    @Test("a pattern of hosts, and several addresses, can't be told", arguments: ["*:443:::1", "+h:443:::1", "h:1:::1,::2"])
    func wrongAddresses(text: String) {
        #expect(throws: UsageError.self) { try Arguments(["get", "h", "--resolve", text]) }
    }

    @Test("times longer than a Duration can be are as long as can be counted", arguments: ["1e30", "1e308", "1e10"])
    func longTimes(text: String) throws {
        #expect(try Arguments(["get", "h", "--timeout", text]).timeout == .seconds(1e10))
        #expect(try Arguments(["get", "h", "--deadline", text]).deadline == .seconds(1e10))
    }

    @Test("numbers of retries", arguments: ["-1", "9223372036854775808", "1e3", ""])
    func wrongCounts(text: String) {
        #expect(throws: UsageError.self) { try Arguments(["get", "h", "--retries", text]) }
    }

    @Test("the largest number of retries")
    func largestCount() throws {
        #expect(try Arguments(["get", "h", "--retries", "\(Int.max)"]).retries == .max)
    }

    @Test(
        "retries without a number are those of the standard set, where that is asked for",
        arguments: [([], 0), (["--standard"], 3), (["--standard", "--retries", "1"], 1), (["--retries", "0", "--standard"], 0)])
    func usualCount(words: [String], count: Int) throws {
        #expect(try Arguments(["get", "h"] + words).retries == count)
        #expect(try Arguments(["batch"] + words).retries == count)
    }
}

@Suite("A command's name on the command line")
struct CommandNameTests {
    @Test(
        "is no host and no method where other words than the command's stand behind it",
        arguments: [
            ["replay"], ["replay", "a", "b"], ["har"], ["har", "mend"], ["har", "a", "b"], ["report"], ["report", "a", "b"],
            ["batch", "a", "b"], ["simulate"], ["simulate", "a", "b"], ["from-curl"], ["from-curl", "curl", "http://h/"], ["ws"],
        ])
    func others(words: [String]) {
        #expect(throws: UsageError.self) { try Arguments(words + ["--bearer", "T"]) }
    }

    @Test(
        "is a host behind a method or with a scheme",
        arguments: [["get", "replay"], ["replay", "-X", "get"], ["https://replay"], ["https://replay", "a==1"]])
    func hosts(words: [String]) throws { #expect(try Arguments(words).url == "https://replay") }
}

@Suite("A URL on the command line")
struct TypedURLTests {
    @Test(
        "is meant to be asked without TLS if its host is this machine, and no other",
        arguments: [
            ("localhost", "http://localhost"), ("LOCALHOST:8080/a", "http://LOCALHOST:8080/a"),
            (":8080/a", "http://localhost:8080/a"),
            ("ann:pw@localhost:8080", "http://ann:pw@localhost:8080"), ("localhost?a@b.test", "http://localhost?a@b.test"),
            ("127.0.0.1:80", "http://127.0.0.1:80"), ("127.1", "http://127.1"), ("[::1]:80/a", "http://[::1]:80/a"),
            ("localhostess.com", "https://localhostess.com"), ("localhost.example.com", "https://localhost.example.com"),
            ("localhost:pw@example.com", "https://localhost:pw@example.com"), ("127.example.com", "https://127.example.com"),
            ("127.0.0.1@example.com", "https://127.0.0.1@example.com"), ("[::1].example.com", "https://[::1].example.com"),
        ])
    func host(word: String, url: String) throws { #expect(try Arguments([word]).url == url) }

    @Test(
        "may lack a scheme where another URL stands in it",
        arguments: [
            ("localhost:80/a?next=https://b.test/", "http://localhost:80/a?next=https://b.test/"),
            ("h.test?a://b", "https://h.test?a://b"), ("h.test/x#a://b", "https://h.test/x#a://b"),
            ("HTTP://h.test?a://b", "HTTP://h.test?a://b"),
        ])
    func scheme(word: String, url: String) throws { #expect(try Arguments([word]).url == url) }

    @Test("stands before items that have another URL", arguments: ["a=http://b.test", "a==http://b.test", "A:http://b.test"])
    func item(word: String) throws { #expect(try Arguments(["host", word]).url == "https://host") }
}

@Suite("The URL of a socket on the command line")
struct SocketURLTests {
    @Test(
        "is a ws URL", arguments: [("h/a", "wss://h/a"), ("HTTPS://h", "wss://h"), ("Http://h", "ws://h"), ("WS://h", "WS://h")])
    func scheme(word: String, url: String) throws { #expect(try Arguments(["ws", word]).url == url) }
}

@Suite("Values that stand in files", .leavesNothing)
struct ValueSourceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String) throws -> String { "@" + (try folder.file(Array(text.utf8)).path) }

    @Test("one rule for every value: @FILE is read, without the line end at its end")
    func files() throws {
        let arguments = try Arguments([
            "get", file("https://h/?token=s\n"), "-H", file("X: s\r\n"), "-q", file("a=s\n\n"), "--timeout", file("2\n"), "-o",
            file("out"), "--retries", file("3"), "--deadline", file("4\n"),
        ])
        #expect(arguments.url == "https://h/?token=s" && arguments.headers == ["X": "s"])
        #expect(arguments.query.map(\.0) == ["a"] && arguments.query.map(\.1) == ["s\n"])
        #expect(arguments.timeout == .seconds(2) && arguments.deadline == .seconds(4) && arguments.retries == 3)
        #expect(arguments.output == "out")
        #expect(throws: Never.self) {
            try Arguments(["get", "h", "--proxy", file("http://u:p@h:1\n"), "--unix-socket", file("/s")])
        }
        let items = try Arguments(["get", "h", "A:" + file("s\n"), "q==" + file("t\n")])
        #expect(items.headers == ["A": "s"] && items.query.map(\.1) == ["t"])
    }

    @Test("bodies are sent as they are")
    func bodies() async throws {
        #expect(try await Arguments(["post", "h", "-d", file("a\n")]).body.collect() == Array("a\n".utf8))
        #expect(try await Arguments(["post", "h", "--json", file("{}\n")]).body.collect() == Array("{}\n".utf8))
        #expect(try Arguments(["post", "h", "--json", file("{}")]).body.contentType == "application/json")
    }

    @Test("@- is standard input, once")
    func standardInput() async throws {
        func input() throws -> FileHandle { try FileHandle(forReadingFrom: folder.file(Array("X: s\n".utf8))) }
        #expect(try Arguments(["get", "h", "-H", "@-"], standardInput: input()).headers == ["X": "s"])
        #expect(try await Arguments(["post", "h", "-d", "@-"], standardInput: input()).body.collect() == Array("X: s\n".utf8))
        for twice in [["-H", "@-", "-H", "@-"], ["-d", "@-", "-q", "@-"], ["--json", "@-", "-d", "@-"]] {
            #expect(throws: UsageError.self) { try Arguments(["post", "h"] + twice, standardInput: input()) }
        }
    }

    @Test("what can't be read is wrong usage")
    func unreadable() throws {
        for option in ["-H", "-q", "-d", "--json", "--proxy", "--ca", "-o"] {
            #expect(throws: UsageError.self) { try Arguments(["post", "h", option, "@/nowhere/at/all"]) }
        }
        for item in ["A:@/nowhere/at/all", "q==@/nowhere/at/all"] {
            #expect(throws: UsageError.self) { try Arguments(["get", "h", item]) }
        }
        let binary = try folder.file([0xFF, 0xFE]).path
        #expect(throws: UsageError.self) { try Arguments(["get", "h", "-H", "@\(binary)"]) }
        #expect(throws: Never.self) { try Arguments(["post", "h", "-d", "@\(binary)"]) }
    }
}

@Suite("Logins in a file")
struct NetrcTests {
    @Test("are found whatever its lines end in, behind comments and macros", arguments: ["\n", "\r\n"])
    func lineEnds(end: String) {
        let lines = [
            "# mine", "machine a.test login x password y", "macdef m", "machine b.test", "", "machine c.test # his", "login z",
        ]
        let netrc = Netrc(lines.map { $0 + end }.joined())
        #expect(netrc.login(for: "a.test") == Identity.Login(user: "x", password: "y"))
        #expect(netrc.login(for: "b.test") == nil)
        #expect(netrc.login(for: "C.test") == Identity.Login(user: "z", password: ""))
    }

    @Test("may have passwords that begin as comments do, or are called as keywords are")
    func oddPasswords() {
        let netrc = Netrc(
            """
            machine a.test login u password #s3cret
            machine b.test login login password password # password
            machine c.test login v password w
            machine d.test login x password macdef
            machine e.test login y password z
            """)
        #expect(netrc.login(for: "a.test") == Identity.Login(user: "u", password: "#s3cret"))
        #expect(netrc.login(for: "b.test") == Identity.Login(user: "login", password: "password"))
        #expect(netrc.login(for: "c.test") == Identity.Login(user: "v", password: "w"))
        #expect(netrc.login(for: "d.test") == Identity.Login(user: "x", password: "macdef"))
        #expect(netrc.login(for: "e.test") == Identity.Login(user: "y", password: "z"))
    }
}
