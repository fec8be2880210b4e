import Foundation
import Midstream
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("Words on the command line")
struct WordsTests {
    @Test(
        "a method may be missing",
        arguments: [
            (["h.test"], "GET", "https://h.test"), (["h.test", "a=b"], "POST", "https://h.test"),
            (["localhost", "a==b"], "GET", "http://localhost"), (["PURGE", "h.test"], "PURGE", "https://h.test"),
            (["get", ":8080/x"], "GET", "http://localhost:8080/x"), (["delete", "h.test:80"], "DELETE", "https://h.test:80"),
            (["h.test", "-d", "x"], "POST", "https://h.test"), (["-X", "put", "h.test"], "PUT", "https://h.test"),
            (["-X", "mkList", "h.test"], "mkList", "https://h.test"), (["purge", "h.test"], "PURGE", "https://h.test"),
            (["head", "h.test", "A:b"], "HEAD", "https://h.test"), (["--", "h.test"], "GET", "https://h.test"),
        ])
    func methods(words: [String], method: String, url: String) throws {
        let arguments = try Arguments(words)
        #expect(arguments.method.rawValue == method && arguments.url == url)
    }

    @Test("options may be joined, and have their values behind = or at once")
    func spellings() throws {
        let arguments = try Arguments(["-vi", "h.test", "--timeout=2", "-H", "A: b", "-HC: d", "--query=a=b", "-ofile"])
        #expect(arguments.isVerbose && arguments.includesHead && arguments.timeout == .seconds(2))
        #expect(arguments.headers.map { "\($0.name): \($0.value)" } == ["A: b", "C: d"])
        #expect(arguments.query.map(\.1) == ["b"] && arguments.output == "file")
    }

    @Test(
        "what can't be meant is wrong usage",
        arguments: [
            [], ["-v"], ["get"], ["h.test", "other"], ["h.test", "https://other"], ["h.test", "--verbose=yes"],
            ["h.test", "--nothing"], ["h.test", "-o"],
            ["h.test", "a:=b"], ["h.test", "a[=b"], ["h.test", "a=1", "a[b]=2"], ["h.test", "a[]=1", "a[b]=2"],
            ["h.test", "f@/nowhere"],
            ["h.test", "a=b", "-d", "x"], ["h.test", "-u", "user"], ["h.test", "--json", "1", "--json", "2"], ["get", ""],
            ["h.test", "--digest"], ["h.test", "--bearer", "t", "-u", "a:b"], ["h.test", "--bearer", "t", "--digest"],
            ["h.test", "--sha256", "00"], ["h.test", "--sha256", String(repeating: "0", count: 64)],
            ["h.test", "--resolve", "h:x:1"],
            ["h.test", "--cert", "/nowhere"], ["h.test", "--json", "1", "-d", "2"], ["h.test", "-d", "1", "--json", "2"],
            ["h.test", "--aws-sigv4", "aws:amz", "-u", "K:S"], ["h.test", "-F", "a:b"],
            ["h.test", "--form", "a[]@/nowhere"],
        ])
    func wrong(words: [String]) {
        #expect(throws: UsageError.self) { try Arguments(words) }
    }

    @Test("several data are joined")
    func data() async throws {
        #expect(try await Arguments(["h.test", "-d", "a=1", "-d", "b=2"]).body.collect() == Array("a=1&b=2".utf8))
    }
}

@Suite("Items of a request", .leavesNothing)
struct RequestItemsTests {
    private func body(_ words: String...) async throws -> (String, String?) {
        let arguments = try Arguments(["h.test"] + words)
        return (String(decoding: try await arguments.body.collect(), as: UTF8.self), arguments.body.contentType)
    }

    @Test(
        "make JSON",
        arguments: [
            (["a=b", "n:=1", "t:=true", "l:=[1, 2]"], #"{"a":"b","l":[1,2],"n":1,"t":true}"#),
            (["a[b][c]=1", "a[d]:=2"], #"{"a":{"b":{"c":"1"},"d":2}}"#), (["a[]=1", "a[]:=2"], #"{"a":["1",2]}"#),
            (["a[][b]=1", "a[][b]=2"], #"{"a":[{"b":"1"},{"b":"2"}]}"#), (["u=http://h/?a=b"], #"{"u":"http://h/?a=b"}"#),
            (["a="], #"{"a":""}"#),
        ])
    func json(words: [String], text: String) async throws {
        let arguments = try Arguments(["h.test"] + words)
        #expect(String(decoding: try await arguments.body.collect(), as: UTF8.self) == text)
        #expect(arguments.body.contentType == "application/json" && arguments.method == .post)
    }

    @Test("make forms, and with files multipart forms")
    func forms() async throws {
        #expect(try await body("-f", "a=b c", "n:=1") == ("a=b+c&n=1", "application/x-www-form-urlencoded"))
        let folder = try TemporaryFolder()
        let file = try folder.file(Array("content".utf8))
        for words in [["f@\(file.path)", "a=b"], ["-F", "f=@\(file.path)", "-F", "a=b"]] {
            let arguments = try Arguments(["h.test"] + words)
            let text = String(decoding: try await arguments.body.collect(), as: UTF8.self)
            #expect(text.contains("name=\"f\"") && text.contains("content") && text.contains("name=\"a\""))
            #expect(arguments.body.contentType?.hasPrefix("multipart/form-data") == true)
        }
        #expect(try await body("a=@\(file.path)").0 == #"{"a":"content"}"#)
    }

    @Test("that need JSON and have none are told as they were typed, without what their files hold")
    func noJSON() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file(Array("S3CR3T".utf8))
        for word in ["token:=@\(file.path)", "a:=b\u{1B}"] {
            let error = #expect(throws: UsageError.self) { try Arguments(["h.test", word]) }
            let typed = word.replacingOccurrences(of: "\u{1B}", with: #"\u{1B}"#)
            #expect(error?.message == "'\(typed)' needs JSON")
        }
    }

    @Test(
        "that curl has as well are cut at the first =",
        arguments: [("token==abc", "token", "=abc"), ("a:b=c:=d", "a:b", "c:=d")])
    func curlFields(word: String, name: String, value: String) async throws {
        let text = try await body("-F", word).0
        #expect(text.contains("name=\"\(name)\"\r\n") && text.contains("\r\n\r\n\(value)\r\n"), "\(text)")
    }

    @Test("have the type that curl gives them, by a file's name or by what stands behind a value")
    func types() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("a;b.JPG")
        try Data("x".utf8).write(to: file)
        let path = "@\"\(file.path)\""
        let parts = [
            (path, #"; filename="a;b.JPG"\#r\#nContent-Type: image/jpeg\#r\#n"#),
            ("\(path);filename=c.pdf", #"; filename="c.pdf"\#r\#nContent-Type: application/pdf\#r\#n"#),
            ("\(path) ; type=c/d;filename=e", #"; filename="e"\#r\#nContent-Type: c/d\#r\#n"#),
            (#"{"a":1};type=application/json"#, #"name="f"\#r\#nContent-Type: application/json\#r\#n\#r\#n{"a":1}\#r\#n"#),
            (#""x; \"y\"";type=text/html; charset=utf-8"#, "Content-Type: text/html; charset=utf-8\r\n\r\nx; \"y\"\r\n"),
        ]
        for (value, part) in parts {
            let text = try await body("-F", "f=\(value)").0
            #expect(text.contains(part), "\(text)")
        }
        #expect(try await body("f@\(file.path)").0.contains("Content-Type: image/jpeg\r\n"))
    }

    @Test("make header fields and queries, which aren't a body")
    func others() throws {
        let arguments = try Arguments(["h.test", "A:b:c", "q==x=y"])
        #expect(arguments.headers == ["A": "b:c"] && arguments.query.map(\.1) == ["x=y"] && arguments.method == .get)
    }
}
