import Foundation
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing) struct DataTaskTests {
    private enum Tenant: RequestContextKey { static let defaultValue = "public" }

    @Test func queryOfADictionaryAndOfArrays() async throws {
        let filter = ["size": "m", "color": "dark red"]
        let task = StubTransport.ok
        let client = testClient(baseURL: "https://h", transport: task)
        _ = try await client.get("a").query(filter).query("tag", ["x", "y,z"]).query("n", [1, 2], as: .brackets)
            .query("id", [3, 4], as: .commas).query("t", ["a,b", "c"], as: .commas).query("none", [Int](), as: .commas).data()
        #expect(
            task.requests.map(\.urlText) == [
                "https://h/a?color=dark%20red&size=m&tag=x&tag=y%2Cz&n%5B%5D=1&n%5B%5D=2&id=3,4&t=a%2Cb,c"
            ])
    }

    @Test(.timeLimit(.minutes(10))) func queryOfAnArrayOfAnyLength() {
        let numbers = Array(0..<300_000)
        var request = HTTPRequest("https://h/a")
        request.addQuery("n", numbers)
        #expect(request.urlText == "https://h/a?" + numbers.map { "n=\($0)" }.joined(separator: "&"))
    }

    private struct Filter: Encodable {
        var size: String?
        var limit = 100
        var isNew = true
        var tags = ["a,b", "c"]
    }

    @Test func queryOfAValue() async throws {
        let client = testClient(baseURL: "https://h", transport: StubTransport.ok)
        func query(_ task: DataTask) -> String { task.request.urlText }
        #expect(query(try client.get("a").query(encoding: Filter())) == "a?isNew=true&limit=100&tags=a%2Cb&tags=c")
        #expect(
            query(try client.get("a").query(encoding: Filter(size: "m"), as: .commas))
                == "a?isNew=true&limit=100&size=m&tags=a%2Cb,c")
        #expect(query(try client.get("a").query(encoding: ["n": 1.5])) == "a?n=1.5")
        let numbers = ["a": [UInt64.max, 1 << 63, 0]]
        #expect(
            query(try client.get("a").query(encoding: numbers, as: .commas))
                == "a?a=18446744073709551615,9223372036854775808,0")
        for price in ["12345678901234567890.123456789", "1000000.000000000000000001"] {
            let number = try #require(Decimal(string: price))
            #expect(query(try client.get("a").query(encoding: ["n": number])) == "a?n=\(price)")
        }
        #expect(query(try client.get("a").query(encoding: ["n": [1.1, 35.658581]])) == "a?n=1.1&n=35.658581")
        for value in [["a": ["b": 1]]] {
            #expect(throws: HTTPError.self) { try client.get("a").query(encoding: value) }
        }
        #expect(throws: HTTPError.self) { try client.get("a").query(encoding: [1, 2]) }
    }

    @Test func theFluentFormDescribesTheWholeRequest() async throws {
        let stub = StubTransport.json(#"{"id": 42, "name": "Ann"}"#)
        let client = HTTPClient.stubbed(stub) { $0.clock = TestClock() }
        let task = client.get("users/42")
            .query("full", "1")
            .query(["a b": "ä", "left out": nil])
            .query("flag")
            .header(.accept, "application/json")
            .timeout(.seconds(5))
            .deadline(.seconds(900))
            .retries(3)
            .redirects(.refuse)
            .context(Tenant.self, "acme")
            .interceptor(ClosureRequestInterceptor { $0.headers["X-Own"] = "1" })
            .interceptors { ClosureRequestInterceptor { $0.headers["X-Own"]? += "2" } }
        #expect(try await task.decode(User.self).result().payload.name == "Ann")
        let request = stub.requests[0]
        #expect(request.method == .get)
        #expect(request.urlText == "https://example.com/users/42?full=1&a%20b=%C3%A4&flag")
        #expect(request.headers[.accept] == "application/json")
        #expect(request.headers["X-Own"] == "12")
        #expect(request.timeout == .seconds(5))
        #expect(request.deadline == .seconds(900))
        #expect(request.maxRetries == 3)
        #expect(request.context[Tenant.self] == "acme")
        #expect("\(request.redirects)" == "\(RedirectPolicy.refuse)")
    }

    @MainActor @Test func modelsOfTheMainActorAreDecoded() async throws {
        let client = HTTPClient.stubbed(.json(#"{"name": "Ann"}"#))
        #expect(try await client.get("users/42").value(Person.self).name == "Ann")
        let person: Person = try await client.get("users/42").value()
        #expect(person.name == "Ann")
        #expect(try await MockedTask { Data(#"{"name": "Ann"}"#.utf8) }.value(Person.self).name == "Ann")
        var names: [String] = []
        for try await page in client.get("users").pages(.link()).decode(Person.self) { names.append(page.name) }
        #expect(names == ["Ann"])
    }

    @Test func modelsThatAreNotSendableAreDecoded() async throws {
        let client = HTTPClient.stubbed(.json(#"{"name": "Ann"}"#))
        #expect(try await client.get("users/42").value(Draft.self).name == "Ann")
        let draft: Draft = try await client.get("users/42").value()
        #expect(draft.name == "Ann")
        #expect(try await Self.value(of: client.get("users/42"), as: Draft.self).name == "Ann")
        #expect(try await Self.inferredValue(of: client.get("users/42"), as: Draft.self).name == "Ann")
        #expect(try await Self.decoded(MockedTask { Data(#"{"name": "Ann"}"#.utf8) }, as: Draft.self).name == "Ann")
    }

    private static func value<Value: Decodable>(
        of task: DataTask, as type: Value.Type
    ) async throws -> Value {
        try await task.value(Value.self)
    }

    private static func inferredValue<Value: Decodable>(
        of task: DataTask, as type: Value.Type
    ) async throws -> Value {
        try await task.value()
    }

    private static func decoded<Value: Decodable>(
        _ task: some RequestTask<Data>, as type: Value.Type
    ) async throws -> Value {
        try await task.value(type)
    }

    @Test func eachMethodHasItsOwn() async throws {
        let stub = StubTransport.json("{}")
        let client = HTTPClient.stubbed(stub)
        let body = try HTTPBody.json(["a": 1])
        let tasks = [
            client.get("a"), client.head("a"), client.post("a", body: body), client.put("a", body: body),
            client.patch("a", body: body), client.delete("a"), client.options("a"), client.task("PROPFIND", "a"),
        ]
        for task in tasks { _ = try await task.result() }
        #expect(stub.requests.map(\.method) == [.get, .head, .post, .put, .patch, .delete, .options, "PROPFIND"])
        for request in stub.requests[2...4] {
            #expect(request.headers[.contentType] == "application/json")
            #expect(request.body.bytes == Array(#"{"a":1}"#.utf8))
        }
    }

    @Test func aTaskIsAValue() async throws {
        let stub = StubTransport.json("{}")
        let plain = HTTPClient.stubbed(stub).post("a", body: .text("one"))
        let other = plain.header("X", "1").headers(["X": "2", "Y": "3"]).body(.text("two"))
        _ = try await plain.result()
        _ = try await other.result()
        #expect(stub.requests[0].headers["X"] == nil)
        #expect(stub.requests[1].headers["X"] == "2")
        #expect(stub.requests[1].headers["Y"] == "3")
        #expect(stub.requests.map(\.body.bytes) == [Array("one".utf8), Array("two".utf8)])
    }

    @Test("what is known of header fields comes with them: which are secret, and which can't be sent")
    func marksOfHeaders() async {
        var headers: HTTPHeaders = ["X-Own": "s3cret", "X-Broken": "a\nb"]
        headers.markSensitive("X-Own")
        let task = HTTPClient.stubbed(.ok).get("u").headers(headers)
        #expect(task.request.headers.isSensitive("X-Own"))
        #expect((await failure { try await task.result() } as? HTTPError)?.code == .invalidRequest)
    }

    @Test func theShortFormsGiveTheBodyInTheFormThatIsAskedFor() async throws {
        let client = HTTPClient.stubbed(.json(#"{"id": 1, "name": "Ann"}"#))
        #expect(try await client.get("u").value(User.self) == User(id: 1, name: "Ann"))
        let user: User = try await client.get("u").value()
        #expect(user.id == 1)
        #expect(try await client.get("u").data().count == 24)
        #expect(try await client.get("u").string().hasPrefix("{"))
        let response = try await client.get("u").response()
        #expect(response.body.bytes?.count == 24)
        var streamed = 0
        for try await chunk in try await client.get("u").stream().body { streamed += chunk.count }
        #expect(streamed == 24)
    }

    @Test func anAnnotationAsDataDecodesNothing() async throws {
        let client = HTTPClient.stubbed(.json(#"{"id": 1}"#))
        let inferred = try await client.get("u").value()
        let annotated: Data = try await client.get("u").value()
        let part: Data = try await client.get("u").keyPath(\.id).value()
        #expect(inferred == annotated && annotated == Data(#"{"id": 1}"#.utf8) && part == Data("1".utf8))
    }

    @Test(
        arguments: [
            ("text/plain", [0xC3, 0xA4], "ä"), ("text/plain; charset=ISO-8859-1", [0xE4], "ä"),
            ("text/plain;charset=\"utf-8\"", [0xC3, 0xA4], "ä"),
            ("text/plain; x=y; Charset=UTF-16BE", [0x00, 0xE4], "ä"), ("text/plain", [0xE4], nil),
            ("text/plain; charset=klingon", [0x41], nil),
            ("text/plain; charset=us-ascii", [0x41, 0xE4], "Aä"), ("text/plain; charset=latin1", [0x80, 0x93, 0x81], "€“\u{81}"),
            ("text/plain; charset=windows-1252", [0x0D, 0x0A, 0x8D, 0x8F, 0x90, 0x9D], "\r\n\u{8D}\u{8F}\u{90}\u{9D}"),
            ("text/plain; charset=windows-1250", [0x8A, 0xE1], "Šá"), ("text/plain; charset=windows-1251", [0xCF, 0xF0], "Пр"),
            ("text/plain; charset=windows-1253", [0xE1], "α"), ("text/plain; charset=windows-1254", [0xF0], "ğ"),
            ("text/plain; charset=iso-8859-2", [0xB1], "ą"), ("text/plain; charset=Shift_JIS", [0x83, 0x65, 0xB1], "テｱ"),
            ("text/plain; charset=iso-2022-jp", [0x1B, 0x24, 0x42, 0x25, 0x46, 0x1B, 0x28, 0x42, 0x61], "テa"),
            ("text/plain; charset=shift_jis", [0x83], nil), ("text/plain; charset=\"\"", [0xC3, 0xA4], "ä"),
            ("text/plain; charset=ANSI_X3.4-1968", [0x41], "A"), ("text/plain; charset=x-sjis", [0x83, 0x65], "テ"),
        ] as [(String, [UInt8], String?)])
    func textIsReadByItsCharset(type: String, bytes: [UInt8], text: String?) async throws {
        let stub = StubTransport(status: .ok, headers: ["Content-Type": type], body: .bytes(bytes))
        let task = HTTPClient.stubbed(stub).get("a")
        if let text {
            #expect(try await task.string() == text)
        } else {
            #expect((await failure { try await task.string() } as? HTTPError)?.code == .decoding)
        }
    }

    @Test(
        arguments: [
            ("euc-jp", "The charset \"euc-jp\" of the body isn't known here."),
            ("utf-8", "The body is no text of the charset \"utf-8\"."),
        ] as [(String, String)])
    func aCharsetThatIsNotKnownIsNoFaultOfTheBody(charset: String, message: String) async {
        let stub = StubTransport(
            status: .ok, headers: ["Content-Type": "text/plain; charset=\(charset)"], body: .bytes([0xA4]))
        let error = await failure { try await HTTPClient.stubbed(stub).get("a").string() } as? HTTPError
        #expect(error?.code == .decoding && error?.message == message)
    }
}

/// As a module has it whose declarations are the main actor's by default.
@MainActor private struct Person { var name: String }

extension Person: @MainActor Decodable {}

private final class Draft: Decodable {
    var name = ""
}
