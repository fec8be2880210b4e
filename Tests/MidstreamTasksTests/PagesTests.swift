import Foundation
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite struct HTTPLinkTests {
    private func links(_ values: String...) -> [HTTPLink] {
        var headers = HTTPHeaders()
        for value in values { headers.add(.link, value) }
        return HTTPLink.all(in: headers)
    }

    @Test func linksAreReadWithTheirParameters() {
        let links = links(#"</a?x=1,2;3>; title="a, b; rel=\"no\""; rel="next last" ; rel=prev, <b>;rel=Prev"#, "<c>")
        #expect(links.map(\.target) == ["/a?x=1,2;3", "b", "c"])
        #expect(links.map(\.relations) == [["next", "last"], ["prev"], []])
    }

    @Test func whatCannotBeReadIsLeftOut() {
        #expect(links("").isEmpty)
        #expect(links("nonsense, <a>; rel=next").map(\.target) == ["a"])
        #expect(links(#""<x>, y", <a>; rel=next"#).map(\.target) == ["a"])
        #expect(links("<a; rel=next").isEmpty)
        #expect(links("<a>; rel=\"next").map(\.relations) == [["next"]])
        #expect(links("<a>;;; rel = next ;, , <b>; crossorigin; rel=last").map(\.relations) == [["next"], ["last"]])
    }

    @Test func theURLIsSeenFromTheResponse() {
        let url = { (value: String) in
            HTTPLink.url(
                "NEXT",
                in: HTTPResponse(
                    status: .ok, headers: ["Link": value], request: HTTPRequest("https://example.com/v1/users?page=1")))
        }
        #expect(url("<?page=2>; rel=next") == "https://example.com/v1/users?page=2")
        #expect(url("<../x>; rel=next") == "https://example.com/x")
        #expect(url("<//other.example/x>; rel=next") == "https://other.example/x")
        #expect(url("<https://other.example/x>; rel=\"next\"") == "https://other.example/x")
        #expect(url("<mailto:a@b>; rel=next") == nil)
        #expect(url("<x>; rel=prev") == nil)
        #expect(url("<x>; rel=next; anchor=\"/other\"") == nil)
    }
}

@Suite(.leavesNothing) struct PagesTests {
    /// Answers each URL with a body and a link.
    private func stub(_ pages: [String: (body: String, link: String?)]) -> StubTransport {
        StubTransport { request in
            guard let page = pages[request.urlText] else { return HTTPResponse(status: .notFound, request: request) }
            var headers: HTTPHeaders = [:]
            if let link = page.link { headers[.link] = link }
            return HTTPResponse(status: .ok, headers: headers, body: .text(page.body), request: request)
        }
    }

    private func bodies(_ pages: ElementSequence<HTTPResponse>) async throws -> [String] {
        var bodies: [String] = []
        for try await page in pages { bodies.append(String(decoding: page.data, as: UTF8.self)) }
        return bodies
    }

    private let linked: [String: (body: String, link: String?)] = [
        "https://example.com/u": ("[1]", #"<u?page=2>; rel="next""#),
        "https://example.com/u?page=2": ("[2]", "<?page=3>; rel=next"),
        "https://example.com/u?page=3": ("[3]", "<?page=1>; rel=first"),
    ]

    @Test func linksAreFollowedToTheLastPageWhateverOftenOneIterates() async throws {
        let stub = stub(linked)
        let pages = HTTPClient.stubbed(stub).get("u").header("X", "1").pages(.link())
        #expect(try await bodies(pages) == ["[1]", "[2]", "[3]"])
        #expect(try await bodies(pages) == ["[1]", "[2]", "[3]"])
        #expect(stub.requests.count == 6)
        #expect(stub.requests.allSatisfy { $0.headers["X"] == "1" })
        #expect(Set(stub.requests.map(\.id)).count == 6)
    }

    @Test func aPageIsRequestedWhenItIsAskedFor() async throws {
        let stub = stub(linked)
        var pages = HTTPClient.stubbed(stub).get("u").pages(.link()).makeAsyncIterator()
        #expect(stub.requests.isEmpty)
        _ = try await pages.next()
        #expect(stub.requests.count == 1)
        _ = try await pages.next()
        _ = try await pages.next()
        #expect(try await pages.next() == nil)
        #expect(try await pages.next() == nil)
        #expect(stub.requests.count == 3)
    }

    @Test func theLimitEndsTheSequence() async throws {
        let stub = stub(linked)
        #expect(try await bodies(HTTPClient.stubbed(stub).get("u").pages(.link(), limit: 2)) == ["[1]", "[2]"])
        #expect(stub.requests.count == 2)
        #expect(try await bodies(HTTPClient.stubbed(stub).get("u").pages(.link(), limit: 0)).isEmpty)
    }

    @Test func pagesAreDecoded() async throws {
        var numbers: [Int] = []
        for try await page in HTTPClient.stubbed(stub(linked)).get("u").pages(.link()).decode([Int].self) { numbers += page }
        #expect(numbers == [1, 2, 3])
        let wrapped = HTTPClient.stubbed(.json(#"{"items": [7]}"#)).get("u").pages(.link())
        for try await page in wrapped.decode([Int].self, at: \.items) { #expect(page == [7]) }
        let error = await failure { for try await _ in wrapped.decode([String].self, at: \.items) {} } as? HTTPError
        #expect(error?.message.contains("items[0]: expected String") == true)
    }

    @Test func aLastPageWithoutABodyIsNotDecoded() async throws {
        let stub = StubTransport(sequence: [.respond(.ok, body: .text("[1]")), .respond(.noContent)])
        var numbers: [[Int]] = []
        for try await page in HTTPClient.stubbed(stub).get("u").pages(.number()).decode([Int].self) { numbers.append(page) }
        #expect(numbers == [[1]] && stub.requests.count == 2)
    }

    @Test func aRejectedPageEndsTheSequence() async throws {
        var pages = HTTPClient.stubbed(stub([:])).get("u").pages(.link()).makeAsyncIterator()
        #expect((await failure { try await pages.next() } as? HTTPError)?.code == .unacceptableStatus)
        #expect(try await pages.next() == nil)
    }

    @Test func pagesThatRunInACircleAreAnError() async throws {
        let stub = stub([
            "https://example.com/u": ("1", "<u?p=2>; rel=next"), "https://example.com/u?p=2": ("2", "</u>; rel=next"),
        ])
        var pages = HTTPClient.stubbed(stub).get("u").pages(.link()).makeAsyncIterator()
        _ = try await pages.next()
        _ = try await pages.next()
        #expect((await failure { try await pages.next() } as? HTTPError)?.code == .protocolViolation)
        #expect(stub.requests.count == 2)
    }

    @Test func aCursorComesFromTheBody() async throws {
        let stub = StubTransport(sequence: [
            .respond(.ok, body: .text(#"{"next": "a b"}"#)), .respond(.ok, body: .text(#"{"next": 7}"#)),
            // It begins with a combining mark.
            .respond(.ok, body: .text("{\"next\": \"\u{301}x\"}")), .respond(.ok, body: .text(#"{"next": null}"#)),
        ])
        _ = try await bodies(HTTPClient.stubbed(stub).get("u?x=1").pages(.cursor("cursor", at: \.next)))
        #expect(
            stub.requests.map { $0.urlText.dropFirst("https://example.com/".count) } == [
                "u?x=1", "u?x=1&cursor=a%20b", "u?x=1&cursor=7", "u?x=1&cursor=%CC%81x",
            ])
    }

    @Test(arguments: ["{}", #"{"next": ""}"#, #"{"next": null}"#, ""])
    func withoutACursorThePageIsTheLast(body: String) async throws {
        #expect(try await bodies(HTTPClient.stubbed(.json(body)).get("u").pages(.cursor("c", at: \.next))) == [body])
    }

    @Test(arguments: ["{", #"{"next": {}}"#, #"{"next": true}"#]) func aCursorThatIsNoneIsAnError(body: String) async throws {
        let error = await failure { try await bodies(HTTPClient.stubbed(.json(body)).get("u").pages(.cursor("c", at: \.next))) }
        #expect((error as? HTTPError)?.code == .decoding)
    }

    @Test func aCursorMayComeFromAClosure() async throws {
        let stub = StubTransport(sequence: [.respond(.ok, headers: ["X-Next": "2"]), .respond(.ok)])
        #expect(try await bodies(HTTPClient.stubbed(stub).get("u").pages(.cursor("c") { $0.headers["X-Next"] })).count == 2)
        #expect(stub.requests[1].urlText == "https://example.com/u?c=2")
    }

    @Test func pagesHaveNumbersUntilOneIsEmpty() async throws {
        let stub = StubTransport(sequence: [
            .respond(.ok, body: .text("[1]")), .respond(.ok, body: .text("[2]")), .respond(.ok, body: .text(" [ ]\n")),
        ])
        _ = try await bodies(HTTPClient.stubbed(stub).get("u?page=9&x=1").pages(.number()))
        #expect(
            stub.requests.map { $0.urlText.dropFirst("https://example.com/".count) } == [
                "u?x=1&page=1", "u?x=1&page=2", "u?x=1&page=3",
            ])
    }

    @Test("An item of the name is replaced however its URL spells it", arguments: ["page%5bno%5d", "page[no]", "p%61ge%5Bno%5D"])
    func spelledNumber(name: String) async throws {
        let stub = StubTransport(sequence: [.respond(.ok, body: .text("[1]")), .respond(.ok)])
        let task = HTTPClient.stubbed(stub).get("u?\(raw: name)=9&x=1")
        _ = try await bodies(task.pages(.number("page[no]")))
        #expect(
            stub.requests.map(\.urlText) == [
                "https://example.com/u?x=1&page%5Bno%5D=1", "https://example.com/u?x=1&page%5Bno%5D=2",
            ])
    }

    @Test func aClosureMayTellTheLastPage() async throws {
        let stub = StubTransport.json("[1]")
        let pages = HTTPClient.stubbed(stub).get("u").pages(.number("p", from: 0) { $0.request.urlText.hasSuffix("p=2") })
        #expect(try await bodies(pages).count == 3)
    }

    @Test func aClosureMayMakeTheNextRequest() async throws {
        let stub = StubTransport(sequence: [.respond(.ok, body: .text("2")), .respond(.ok)])
        let task = HTTPClient.stubbed(stub).post("search", body: .text("1"))
        _ = try await bodies(
            task.pages(
                .custom { first, response in
                    guard !response.data.isEmpty else { return nil }
                    var next = first
                    next.body = response.body
                    return next
                }))
        #expect(stub.requests.map(\.body.bytes) == [Array("1".utf8), Array("2".utf8)])
    }

    @Test func cancellingEndsTheSequence() async throws {
        let stub = stub(linked)
        let pages = HTTPClient.stubbed(stub).get("u").pages(.link())
        let running = Task {
            for try await _ in pages { withUnsafeCurrentTask { $0?.cancel() } }
        }
        #expect(await failure { try await running.value } is CancellationError)
        #expect(stub.requests.count == 1)
    }

    @Test(
        "All pages are asked for by whom a single request would be",
        arguments: [(nil, "https://example.com"), ("configured", "https://other.example"), ("configured", "https://example.com")]
            as [(String?, String)])
    func user(configured: String?, base: String) async throws {
        let stub = stub(linked)
        var configuration = HTTPClient.Configuration()
        configuration.headers[.authorization] = configured
        let client = testClient(baseURL: base, configuration: configuration, transport: stub)
        let task = client.get("https://ann:secret@example.com/u")
        #expect(try await bodies(task.pages(.link())) == ["[1]", "[2]", "[3]"])
        _ = try await task.response()
        let isOwn = configured != nil && base == "https://example.com"
        let user = isOwn ? configured : String.basic(user: "ann", password: "secret")
        #expect(stub.requests.map { $0.headers[.authorization] } == [user, user, user, user])
    }

    @Test(arguments: [InterceptorStage.attempt, .exchange])
    func credentialsStayWithTheirOrigin(stage: InterceptorStage) async throws {
        let stub = stub([
            "https://example.com/u?x=1&key=k3y": ("1", "<https://other.example/u?key=k3y&y=2>; rel=next"),
            "https://other.example/u?y=2": ("2", "<https://example.com/u?key=k3y&x=3>; rel=next"),
            "https://example.com/u?x=3&key=k3y": ("3", nil),
        ])
        let configuration = HTTPClient.Configuration(
            headers: ["Authorization": "configured", "X-Plain": "plain"], query: [("key", "k3y")])
        let client = testClient(baseURL: "https://example.com", configuration: configuration, transport: stub) {
            ClosureRequestInterceptor(stage: stage) { $0.headers["X-API-Key"] = "intercepted" }
        }
        let task = client.get("u?x=1").headers(["Cookie": "own", "X-Marked": "own"]).with { $0.headers.markSensitive("X-Marked") }
        #expect(try await bodies(task.pages(.link())) == ["1", "2", "3"])
        let secret: [HTTPHeaders.Name] = [.authorization, .cookie, "X-API-Key", "X-Marked"]
        #expect(stub.requests.map { request in secret.filter { request.headers.contains($0) }.count } == [4, 0, 4])
        #expect(stub.requests.allSatisfy { $0.headers["X-Plain"] == "plain" })
    }

    @Test func sensitiveTrailersStayWithTheirOrigin() async throws {
        let stub = stub([
            "https://example.com/u": ("1", "<u?page=2>; rel=next"),
            "https://example.com/u?page=2": ("2", "<https://other.example/u>; rel=next"),
            "https://other.example/u": ("3", nil),
        ])
        let task = HTTPClient.stubbed(stub).post("u", body: .stream { AsyncStream<[UInt8]> { $0.finish() } })
            .with { $0.trailers = { .sumAndKey } }
        #expect(try await bodies(task.pages(.link())) == ["1", "2", "3"])
        let trailers = stub.requests.map { $0.trailers?() ?? [:] }
        #expect(trailers.map { $0.contains("X-Key") } == [true, true, false])
        #expect(trailers.allSatisfy { $0["X-Sum"] == "1" })
    }

    /// As servers have it that write percent-encodings in small letters, or encode more or less than is done here.
    @Test(
        "A client's items are known in links however they are encoded",
        arguments: ["a%2fb%2b%3d%20%7e", "a/b%2B=+~", "a/b+=%20~"])
    func spelledItems(value: String) async throws {
        let added = "key=a%2Fb%2B%3D%20~"
        let stub = stub([
            "https://example.com/u?\(added)": ("1", "<u?key=\(value)&page=2>; rel=next"),
            "https://example.com/u?page=2&\(added)": ("2", "<https://other.example/u?key=\(value)&page=3>; rel=next"),
            "https://other.example/u?page=3": ("3", nil),
        ])
        let configuration = HTTPClient.Configuration(query: [("key", "a/b+= ~")])
        let client = testClient(baseURL: "https://example.com", configuration: configuration, transport: stub)
        #expect(try await bodies(client.get("u").pages(.link())) == ["1", "2", "3"])
    }

    /// As the links of a server do that is reached by https, since it wants that, although the base URL is an http one.
    @Test func credentialsStayWithTheirHostWhereAPageLeadsFromHTTPToHTTPS() async throws {
        let stub = stub([
            "http://example.com/u": ("1", "<https://example.com/u?page=2>; rel=next"),
            "https://example.com/u?page=2": ("2", "<https://example.com:8443/u>; rel=next"),
            "https://example.com:8443/u": ("3", nil),
        ])
        let client = testClient(baseURL: "http://example.com", transport: stub)
        #expect(try await bodies(client.get("u").header(.cookie, "own").pages(.link())) == ["1", "2", "3"])
        #expect(stub.requests.map { $0.headers.contains(.cookie) } == [true, true, false])
    }

    @Test func theAddressIsThatOfItsOwnOrigin() async throws {
        let stub = stub([
            "https://example.com/u": ("1", "<?page=2>; rel=next"),
            "https://example.com/u?page=2": ("2", "<https://other.example/u>; rel=next"),
            "https://other.example/u": ("3", nil),
        ])
        let task = HTTPClient.stubbed(stub).get("u").with { $0.address = "10.0.0.1" }
        #expect(try await bodies(task.pages(.link())) == ["1", "2", "3"])
        #expect(stub.requests.map(\.address) == ["10.0.0.1", "10.0.0.1", nil])
    }

    @Test func aPageMayNotLeadFromHTTPSToHTTP() async throws {
        let stub = stub(["https://example.com/u": ("1", "<http://example.com/u?p=2>; rel=next")])
        let error = await failure { try await bodies(HTTPClient.stubbed(stub).get("u").pages(.link())) } as? HTTPError
        #expect(error?.code == .protocolViolation)
        #expect(stub.requests.count == 1)
    }

    @Test("links of the largest size with as many parts as fit are read to their end")
    func largeLinks() {
        let repeated = { (part: String) in String(repeating: part, count: 200_000 / part.utf8.count) }
        #expect(HTTPLink.all(in: ["Link": repeated("<,")]).isEmpty)
        #expect(HTTPLink.all(in: ["Link": repeated("<,") + "<a>;rel=x"]).map(\.relations) == [["x"]])
        #expect(HTTPLink.all(in: ["Link": repeated("<>,") + "<a>;rel=x"]).last?.target == "a")
        #expect(HTTPLink.all(in: ["Link": "<a>" + repeated(";rel=x")]).map(\.relations) == [["x"]])
    }
}
