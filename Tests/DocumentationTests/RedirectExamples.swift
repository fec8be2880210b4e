import Foundation
import Midstream
import MidstreamTesting
import MidstreamTransportSecurity
import Testing

@Suite("Redirects.md", .timeLimit(.minutes(10)))
struct RedirectExamples {
    /// Sends everything to another place but for what comes from there.
    private func stub(_ status: HTTPStatus = .found, to location: String = "/new") -> StubTransport {
        StubTransport { request in
            request.urlText.hasSuffix("/new")
                ? HTTPResponse(status: .ok, body: "new", request: request)
                : HTTPResponse(status: status, headers: [.location: location], request: request)
        }
    }

    @Test("A limit, and none at all")
    func policies() async throws {
        let stub = stub()
        let configuration = HTTPClient.Configuration(redirects: .follow(limit: 3))
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub)

        let moved = try await client.get("report").redirects(.refuse).response()
        print(moved.status, moved.headers[.location] ?? "nowhere")
        #expect(moved.status == .found && stub.requests.count == 1)
        #expect(try await client.get("report").string() == "new")
    }

    @Test("A closure that stays at home")
    func custom() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.redirects = .custom { next, response in
            next.url.host == "api.example.com" ? next : nil  // stays at home
        }
        for (location, count) in [("/new", 2), ("https://other.example/new", 1)] {
            let stub = stub(to: location)
            let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub)
            _ = try await client.get("report").data()
            #expect(stub.requests.count == count)
        }
    }

    @Test("The table of what is sent next", arguments: [HTTPMethod.get, .head, .post, .put, .delete])
    func methods(method: HTTPMethod) async throws {
        for status in [301, 302, 303, 307, 308] as [HTTPStatus] {
            let stub = stub(status)
            let body: HTTPBody = method == .head ? .empty : "body"
            _ = try await HTTPClient(transport: stub).send(HTTPRequest(method, "https://h/old", body: body))
            let becomesGet = ![.get, .head].contains(method) && (status == 303 || (method == .post && status.code < 303))
            let next = try #require(stub.requests.last)
            #expect(next.method == (becomesGet ? .get : method), "\(status)")
            #expect((next.body.length == 0) == (becomesGet || method == .head), "\(status)")
        }
    }

    @Test("What can't be followed is the response, and what can't be sent again an error")
    func limits() async throws {
        for location in ["http://h/new", "ftp://h/new", "https://"] {
            let response = try await HTTPClient(transport: stub(to: location)).send(HTTPRequest("https://h/old"))
            #expect(response.status == .found, "\(location)")
        }
        let circle = await #expect(throws: HTTPError.self) {
            try await HTTPClient(transport: stub(to: "/old")).send(HTTPRequest("https://h/old"))
        }
        #expect(circle?.code == .tooManyRedirects && circle?.response?.status == .found)

        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 307, headers: [.location: "/new"]))
        let once = HTTPBody.once(
            AsyncStream<[UInt8]> {
                $0.yield([1]); $0.finish()
            })
        let error = await #expect(throws: HTTPError.self) {
            try await HTTPClient().send(HTTPRequest(.post, server.url("/old"), body: once))
        }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test("Hosts that want https")
    func strictTransport() async throws {
        let stub = StubTransport(status: .ok)
        let store = StrictTransportStore([StrictTransportHost("example.com", includesSubdomains: true)])
        let client = HTTPClient(transport: stub) {
            StrictTransport(store: store)
            CookieInterceptor()
        }
        _ = try await client.send(HTTPRequest("http://api.example.com/"))
        #expect(stub.requests.map(\.urlText) == ["https://api.example.com/"])
    }

    @Test("What is seen of it")
    func events() async throws {
        let response = try await HTTPClient(transport: stub()).send(HTTPRequest("https://h/old"))
        for hop in response.trace.events(named: "redirect") {
            print(hop.text, hop.attributes["target"] ?? "")
        }
        #expect(response.trace.events(named: "redirect").map(\.attributes["target"]) == ["https://h/new"])
        #expect("\(response.trace)".contains("followed 302 to https://h/new"))
        #expect(response.url.absoluteString == "https://h/new")
    }
}
