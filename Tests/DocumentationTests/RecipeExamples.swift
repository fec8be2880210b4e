import Foundation
import Midstream
import MidstreamDiskCache
import MidstreamSigning
import MidstreamTelemetry
import MidstreamTesting
import MidstreamURLSession
import Testing

#if os(Linux)
    import MidstreamWire
#endif

@Suite("Recipes.md", .timeLimit(.minutes(10)))
struct RecipeExamples {
    struct Problem: Decodable {
        let title: String
        let detail: String?
    }

    struct ShopError: Error {
        let status: HTTPStatus
        let problem: Problem
    }

    struct ShopErrors: HTTPInterceptor {
        let stage = InterceptorStage.call  // once per call, after all retries

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch let error as HTTPError {
                guard let response = error.response, let problem = try? error.decode(Problem.self) else { throw error }
                throw ShopError(status: response.status, problem: problem)
            }
        }
    }

    private struct Order: Codable, Sendable { let amount: Int }

    @Test("Imports name every product, and what they are said to bring is there")
    func imports() throws {
        let manifest = try Repository.lines(of: "Package.swift").joined(separator: "\n")
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) }
        let rows = try MarkdownPage(path: "Documentation/Recipes.md").table(below: "Imports")
        #expect(rows.filter { !$0.contains("Foundation") }.sorted() == products.map { "import \($0)" }.sorted())
        // Each by its import alone, which is one of this target's.
        let brought: [Any.Type] = [
            HTTPClient.self, CookieJar.self, DiskCacheStore.self, HARRecorder.self, HARArchive.self, ReplayTransport.self,
            SigningInterceptor<AWSSignerV4>.self, AWSSignerV4.self,
            DigestInterceptor.self,
            VerifyDigest.self, SendDigest.self, MockServer.self, StubTransport.self, TestClock.self, Simulation.self,
            InterceptorChain<Int, Int>.self, URLSessionTransport.self, ConcurrencyLimit.self, CircuitBreaker.self,
        ]
        let page = try MarkdownPage(path: "Documentation/Recipes.md").lines().joined(separator: "\n")
        for type in brought { #expect(page.contains("`\("\(type)".prefix { $0 != "<" })`"), "\(type)") }
    }

    @Test("What an API says about an error")
    func problems() async throws {
        let stub = StubTransport(status: .conflict, body: .json(text: #"{"title": "Sold out"}"#))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let order = Order(amount: 1)
        do {
            _ = try await client.post("orders", json: order).data()
        } catch let error as HTTPError where error.response != nil {
            let problem = try error.decode(Problem.self)
            print(error.response?.status.code ?? 0, problem.title, problem.detail ?? "")
        }
        #expect(stub.requests.first?.method == .post)
        let error = await #expect(throws: ShopError.self) {
            try await HTTPClient(transport: stub) { ShopErrors() }.send(HTTPRequest("https://h/"))
        }
        #expect(error?.status == .conflict && error?.problem.title == "Sold out")
    }

    private struct Session: Decodable, Sendable { let token: String }
    private struct Profile: Decodable, Sendable { let name: String }

    @Test("Log in for a token")
    func token() async throws {
        let (user, password) = ("ann", "p")
        let stub = StubTransport { request in
            if request.url.path == "/login" {
                return HTTPResponse(status: .ok, body: .json(text: #"{"token": "t"}"#), request: request)
            }
            let isKnown = request.headers[.authorization] == "Bearer t"
            return HTTPResponse(
                status: isKnown ? .ok : .unauthorized, body: .json(text: #"{"name": "Ann"}"#), request: request)
        }
        let logins = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .bearer {
                try await logins.post("login", body: .form([("user", user), ("password", password)])).value(Session.self).token
            }
        }
        let name = try await client.get("profile").value(Profile.self).name
        #expect(name == "Ann" && stub.requests.map(\.url.path) == ["/login", "/profile"])
    }

    @Test("Log in by cookie")
    func cookie() async throws {
        let (user, password) = ("ann", "p")
        let stub = StubTransport { request in
            let headers: HTTPHeaders = request.method == .post ? [.setCookie: "sid=1"] : [:]
            return HTTPResponse(status: .ok, headers: headers, body: .text(request.headers[.cookie] ?? ""), request: request)
        }
        let client = HTTPClient(baseURL: "https://shop.example.com", transport: stub) { .cookies() }
        _ = try await client.post("login", body: .form([("user", user), ("password", password)])).data()
        let basket = try await client.get("basket").string()
        #expect(basket == "sid=1")
    }

    @Test("Page by page")
    func pages() async throws {
        let stub = StubTransport(sequence: [
            .respond(.ok, body: .json(text: #"{"data": [{"amount": 1}, {"amount": 2}], "meta": {"next": "b"}}"#)),
            .respond(.ok, body: .json(text: #"{"data": [{"amount": 3}], "meta": {"next": null}}"#)),
        ])
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let pages = client.get("orders").query("limit", 100)
            .pages(.cursor("after", at: \.meta.next))
            .decode([Order].self, at: \.data)
        var sum = 0
        for try await orders in pages {
            sum += orders.map(\.amount).reduce(0, +)
        }
        #expect(sum == 6 && stub.requests.last?.urlText == "https://api.example.com/orders?limit=100&after=b")
    }

    @Test("Download with progress")
    func download() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: .pattern(length: 300_000)) }
        let client = HTTPClient(baseURL: server.url())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).film")
        defer { try? FileManager.default.removeItem(at: file) }
        let bar = Recorder()
        try await client.get("film").download(to: file, options: .init(resumes: 10)) { progress in
            bar.write("\(Int((progress.fraction ?? 0) * 100)) %")
        }
        #expect(bar.events.last == "100 %")
    }

    private struct Shop {
        struct Stock: Decodable, Sendable { let left: Int }

        let client: HTTPClient

        func isInStock(_ id: Int) async throws -> Bool { try await client.get("stock/\(id)").value(Stock.self).left > 0 }
    }

    @Test("Mock and test")
    func mocks() async throws {
        let stub = StubTransport { request in
            switch (request.method, request.url.path) {
            case (.get, "/stock/42"): HTTPResponse(status: .ok, body: .json(text: #"{"left": 3}"#), request: request)
            default: HTTPResponse(status: .notFound, request: request)
            }
        }
        let shop = Shop(client: HTTPClient(baseURL: "https://api.example.com", transport: stub))
        #expect(try await shop.isInStock(42))
        #expect(stub.requests.map(\.urlText) == ["https://api.example.com/stock/42"])
    }

    @Test("Failures on the wire")
    func faults() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(fault: .disconnect(.beforeHead)), .init(body: .json(text: #"{"left": 0}"#)))

        let shop = Shop(client: HTTPClient(baseURL: server.url(), configuration: .init(maxRetries: 1)))
        #expect(try await shop.isInStock(42) == false)
        #expect(server.requestCount == 2)
    }

    #if os(Linux)
        @Test("Behind a proxy")
        func proxy() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(body: "by the proxy"))
            let proxy = "http://127.0.0.1:\(server.port)"
            let transport = WireTransport(configuration: .init(proxy: .http(proxy, noProxy: ["localhost", "example.internal"])))
            let client = HTTPClient(baseURL: "http://api.example.com", transport: transport)
            defer { transport.close() }
            #expect(try await client.get("users").string() == "by the proxy")
            #expect(try await server.takeRequest().target == "http://api.example.com/users")
        }

        @Test("With a private authority")
        func authority() async throws {
            let environment = ProcessInfo.processInfo.environment
            let path = environment["MIDSTREAM_CA"] ?? "/no/authority.pem"
            let address = environment["MIDSTREAM_NGINX_HTTPS"] ?? "https://localhost"
            let transport = WireTransport(configuration: .init(tls: .init(authorities: .file(path))))
            let client = HTTPClient(baseURL: address, transport: transport)
            defer { transport.close() }
            do {
                #expect(try await client.get("hello").string() == "hello\n")
            } catch let error as HTTPError where environment["MIDSTREAM_CA"] == nil {
                #expect(error.code == .tls)
            }
        }

        @Test("Over a unix domain socket")
        func unixSocket() async throws {
            let socket = "/no/docker.sock"
            let transport = WireTransport(configuration: .init(unixSocketPath: socket))
            let client = HTTPClient(baseURL: "http://localhost", transport: transport)
            defer { transport.close() }
            let error = await #expect(throws: HTTPError.self) { try await client.get("version").data() }
            #expect(error?.code == .connection)
        }
    #endif

    @Test("Many hosts: those that are dead cost the others nothing")
    func manyHosts() async throws {
        let stub = StubTransport { request in
            guard request.urlText.hasPrefix("https://alive.example.com/") else {
                throw HTTPError(.connection, "It is dead.", request: request, phase: .notSent)
            }
            return HTTPResponse(status: request.attempt == 1 ? .serviceUnavailable : .ok, request: request)
        }
        var configuration = HTTPClient.Configuration(timeout: .seconds(120), maxRetries: 2)
        configuration.retryBudget = nil  // a breaker for each host takes its place
        // Retries come at once.
        configuration.clock = TestClock()
        configuration.random = { 0 }
        let client = HTTPClient(configuration: configuration, transport: stub) {
            CircuitBreaker(minimum: 5, window: .seconds(60))  // so few a second never make 20 in 10 s
            RateLimit(perSecond: 1, burst: 3, maximumWait: .seconds(60))  // and half of the timeout at most
        }
        for number in 0..<30 { _ = try? await client.send(HTTPRequest("https://dead\(number).example.com/")) }
        #expect(stub.requests.count == 90)
        #expect(try await client.send(HTTPRequest("https://alive.example.com/")).status == .ok)
    }

    /// When whoever is being served stops waiting.
    enum Upstream {
        @TaskLocal static var deadline: ContinuousClock.Instant?
    }

    /// No call takes longer than the one who waits for it.
    struct UpstreamDeadline: RequestInterceptor {
        let stage = InterceptorStage.call  // deadlines are read when a call begins

        func intercept(request: inout HTTPRequest) async throws {
            guard let deadline = Upstream.deadline else { return }
            let left = ContinuousClock.now.duration(to: deadline)
            request.deadline = min(request.deadline ?? left, left)
        }
    }

    @Test("On a server, with the time that is left")
    func upstream() async throws {
        let client = HTTPClient(
            baseURL: "https://api.example.com", transport: StubTransport(status: .ok, body: .json(text: "12"))
        ) {
            UpstreamDeadline()
        }
        let id = 7
        var price = 0
        do {
            try await Upstream.$deadline.withValue(.now + .milliseconds(800)) {
                price = try await client.get("prices/\(id)").value(Int.self)
            }
            #expect(price == 12)
        } catch let error as HTTPError {
            #expect(error.code == .deadlineExceeded)  // on a machine that is that slow
        }
        let late = await #expect(throws: HTTPError.self) {
            try await Upstream.$deadline.withValue(.now - .seconds(1)) { try await client.get("prices/\(id)").data() }
        }
        #expect(late?.code == .deadlineExceeded)
    }

    @Test("The manifest's products and traits are those of the package")
    func manifest() throws {
        let own = try Repository.lines(of: "Package.swift").joined(separator: "\n")
        let products = Set(own.matches(of: /\.(?:library|executable)\(name: "(\w+)"/).map { String($0.1) })
        let traits = Set(own.matches(of: /\.trait\(\s*name: "(\w+)"/).map { String($0.1) })
        for path in ["README.md", "Documentation/Recipes.md"] {
            let text = try MarkdownPage(path: path).lines().joined(separator: "\n")
            for match in text.matches(of: /\.product\(name: "(\w+)"/) { #expect(products.contains(String(match.1))) }
            for match in text.matches(of: /traits: \["(\w+)"\]/) { #expect(traits.contains(String(match.1))) }
        }
        let recipes = try MarkdownPage(path: "Documentation/Recipes.md").lines().joined(separator: "\n")
        for name in products where name != "midst" { #expect(recipes.contains("`\(name)`") || recipes.contains("\"\(name)\"")) }
        let listed = try MarkdownPage(path: "README.md").table(below: "Use it")
        #expect(Set(listed) == products)
    }
}
