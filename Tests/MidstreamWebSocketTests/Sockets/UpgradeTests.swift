#if os(Linux)
    import Interception
    import Midstream
    import MidstreamCore
    import MidstreamCurl
    import MidstreamResilience
    import MidstreamTesting
    import MidstreamWebSocket
    import TestSupport
    import Testing

    /// The upgrade's way through the pipeline.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UpgradeTests {
        private let server: MockServer

        init() throws { server = try MockServer() }

        private func client(
            _ configuration: HTTPClient.Configuration = .init(),
            @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
        ) -> HTTPClient {
            testClient(
                baseURL: server.url(), configuration: configuration, transport: wireTransport(), interceptors: interceptors)
        }

        private static func echo(_ socket: MockWebSocket) async throws { try await socket.echo() }

        private func expectOpen(_ socket: WebSocket) async throws {
            try await socket.send("a")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("a"))
        }

        @Test func `What is asked for is what RFC 6455 wants`() async throws {
            server.respond { _ in .webSocket(subprotocol: "v2.json", Self.echo) }
            let client = client()
            let url = server.url("/feed").replacing("http:", with: "WS:")
            let first = try await client.webSocket(url, protocols: ["v1", "v2.json"]) { $0.compression = .offered }.connect()
            #expect(first.subprotocol == "v2.json" && !first.isCompressing)
            let second = try await client.webSocket("feed", protocols: ["v2.json"]).connect()
            let requests = server.requests
            for request in requests {
                #expect(request.method == .get && request.path == "/feed")
                #expect(request.headers["Upgrade"] == "websocket" && request.headers["Connection"] == "Upgrade")
                #expect(request.headers["Sec-WebSocket-Version"] == "13")
            }
            #expect(requests[0].headers["Sec-WebSocket-Protocol"] == "v1, v2.json")
            #expect(requests[0].headers["Sec-WebSocket-Extensions"] == "permessage-deflate; client_max_window_bits")
            #expect(requests[1].headers["Sec-WebSocket-Extensions"] == nil)
            #expect(requests[0].headers["Sec-WebSocket-Key"] != requests[1].headers["Sec-WebSocket-Key"])
            try await expectOpen(first)
            try await expectOpen(second)
            #expect(first.response.trace.description.contains("101"))
        }

        @Test func `Protocols may be offered by a field of the request`() async throws {
            server.enqueue(.webSocket(subprotocol: "v1", Self.echo))
            let request = HTTPRequest("feed", headers: ["Sec-WebSocket-Protocol": "v2, v1"])
            let socket = try await client().webSocket(request).connect()
            #expect(socket.subprotocol == "v1")
            #expect(server.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["v2, v1"])
            try await expectOpen(socket)
        }

        @Test func `What opening one would do is explained, and nothing is sent`() async throws {
            let client = client { Coalescing() }
            let explanation = try await client.webSocket(server.url("/feed").replacing("http:", with: "ws:")).explain()
            #expect(explanation.request.urlText == server.url("/feed"))
            #expect(explanation.request.headers["Upgrade"] == "websocket")
            let coalescing = try #require(explanation.steps.first { $0.name.contains("Coalescing") })
            #expect(coalescing.plan.text?.contains("a connection of its own") == true)
            await #expect(throws: HTTPError.self) { try await client.webSocket(HTTPRequest(.post, "feed")).explain() }
            #expect(server.requestCount == 0)
        }

        @Test func `Requests that can't be a socket's aren't sent`() async throws {
            let client = client()
            for request in [
                HTTPRequest(.post, "feed"), HTTPRequest(.get, "feed", body: "x"),
                HTTPRequest("feed", headers: ["Sec-WebSocket-Key": "x"]),
                HTTPRequest("feed", headers: ["sec-websocket-version": "8"]), HTTPRequest("feed", headers: ["Upgrade": "h2c"]),
                HTTPRequest("feed", headers: ["Connection": "close"]), HTTPRequest("ftp://a/feed"),
            ] {
                let error = await #expect(throws: HTTPError.self) { try await client.webSocket(request).connect() }
                #expect(error?.code == .invalidRequest && error?.phase == .notSent)
            }
            for protocols in [["a b"], ["a", "a"], [""]] {
                let error = await #expect(throws: HTTPError.self) {
                    try await client.webSocket("feed", protocols: protocols).connect()
                }
                #expect(error?.code == .invalidRequest)
            }
            #expect(server.requestCount == 0)
        }

        @Test func `Any status but 101 is refused, with its body`() async throws {
            for status: HTTPStatus in [200, 204, 400, 404, 426, 500] {
                server.enqueue(.init(status: status, body: status == 204 ? .empty : "why"))
                let error = await #expect(throws: HTTPError.self) { try await client().webSocket("feed").connect() }
                #expect(error?.code == .unacceptableStatus && error?.response?.status == status)
                #expect(status == 204 || error?.response?.body.text == "why")
            }
        }

        @Test func `A status that validators accept is refused all the same`() async throws {
            let configuration = HTTPClient.Configuration(validators: [])
            server.enqueue(.init(status: .forbidden, body: "why"))
            let error = await #expect(throws: HTTPError.self) { try await client(configuration).webSocket("feed").connect() }
            #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "why")
        }

        @Test func `Of a long refusal the rest can be read, and cancelling ends the wait for it`() async throws {
            let configuration = HTTPClient.Configuration(validators: [])
            let body = [UInt8](repeating: 7, count: 2 * HTTPError.keptBody)
            server.enqueue(.init(status: .forbidden, body: .bytes(body)))
            let error = await #expect(throws: HTTPError.self) { try await client(configuration).webSocket("feed").connect() }
            #expect(error?.code == .unacceptableStatus)
            #expect(try await error?.response?.body.collect() == body)

            let reading = Gate()
            let endless = client(configuration) {
                ClosureHTTPInterceptor { request, next in
                    var response = try await next(request)
                    response.body = response.body.mapChunks { chunk in
                        reading.open()
                        return chunk
                    }
                    return response
                }
            }
            server.enqueue(.init(status: .forbidden, body: .text("not you"), fault: .stall(.insideBody(afterBytes: 3))))
            let task = Task { try await endless.webSocket("feed").connect() }
            await reading.wait()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `Answers that aren't an agreement are violations`() async throws {
            let fields: [HTTPHeaders] = [
                ["Upgrade": "h2c"], ["Connection": "close"], ["Sec-WebSocket-Accept": "x"], ["Sec-WebSocket-Protocol": "v3"],
                ["Sec-WebSocket-Extensions": "permessage-deflate"], ["Sec-WebSocket-Extensions": "x"],
                ["Sec-WebSocket-Protocol": "v1", "Sec-WebSocket-Protocol": "v2"],
            ]
            for fields in fields {
                let left = Gate()
                server.enqueue(
                    .webSocket(headers: fields) { socket in
                        while try await socket.next() != nil {}
                        left.open()
                    })
                let error = await #expect(throws: HTTPError.self) {
                    try await client().webSocket("feed", protocols: ["v1", "v2"]).connect()
                }
                #expect(error?.code == .protocolViolation, "\(fields)")
                await left.wait()
            }
        }

        @Test func `A 401 is refreshed, and cookies of the 101 are kept`() async throws {
            struct Token: Authenticator {
                func apply(_ credential: Int, to request: inout HTTPRequest) async throws {
                    request.headers[.authorization] = "Bearer \(credential)"
                }
                func refresh(_ credential: Int?) async throws -> Int { (credential ?? 0) + 1 }
            }
            let client = client {
                AuthenticationInterceptor(Token(), credential: 1)
                CookieInterceptor()
            }
            server.respond { request in
                request.headers[.authorization] == "Bearer 2"
                    ? .webSocket(headers: ["Set-Cookie": "session=s; Path=/", "Set-Cookie": "user=u; Path=/"], Self.echo)
                    : .init(status: .unauthorized)
            }
            try await expectOpen(client.webSocket("feed").connect())
            #expect(server.requestCount == 2)
            try await expectOpen(client.webSocket("feed").connect())
            let cookies = server.requests.last?.headers[.cookie] ?? ""
            #expect(cookies.contains("session=s") && cookies.contains("user=u"))
        }

        @Test func `Redirects are followed, also to a ws URL`() async throws {
            let other = try MockServer()
            other.respond(webSocket: Self.echo)
            for location in [other.url("/a"), other.url("/a").replacing("http:", with: "ws:")] {
                server.enqueue(.init(status: .found, headers: ["Location": location]))
                let socket = try await client().webSocket(
                    HTTPRequest("feed", headers: ["Authorization": "secret"])
                ).connect()
                try await expectOpen(socket)
                #expect(other.requests.last?.path == "/a" && other.requests.last?.headers[.authorization] == nil)
            }
            var refusing = HTTPRequest("feed")
            refusing.redirects = .refuse
            server.enqueue(.init(status: .found, headers: ["Location": other.url("/a")]))
            let error = await #expect(throws: HTTPError.self) { try await client().webSocket(refusing).connect() }
            #expect(error?.response?.status == .found)
        }

        @Test func `A refusal that may pass is retried`() async throws {
            let configuration = HTTPClient.Configuration(maxRetries: 2, random: { 0 })
            server.enqueue(.init(status: .serviceUnavailable), .init(fault: .disconnect(.beforeHead)), .webSocket(Self.echo))
            try await expectOpen(client(configuration).webSocket("feed").connect())
            #expect(server.requestCount == 3)
            #expect(Set(server.requests.map { $0.headers["Sec-WebSocket-Key"] }).count == 3)
        }

        @Test func `Cache, coalescing, hedging and limits leave a socket alone`() async throws {
            let limit = ConcurrencyLimit(.fixed(1))
            let client = client {
                CacheInterceptor()
                Coalescing()
                Hedging(delay: .zero, budget: 1)
                CircuitBreaker()
                limit
            }
            server.respond { request in
                request.headers.contains("Upgrade")
                    ? .webSocket(Self.echo) : .init(headers: ["Cache-Control": "max-age=100"], body: "x")
            }
            _ = try await client.send(HTTPRequest("feed"))
            let sockets = await withThrowingTaskGroup { group in
                for _ in 0..<3 { group.addTask { try await client.webSocket("feed").connect() } }
                var sockets: [WebSocket] = []
                while let result = await group.nextResult() { if case .success(let socket) = result { sockets.append(socket) } }
                return sockets
            }
            // Those that came together met the limit; one that stands doesn't count.
            #expect(!sockets.isEmpty)
            #expect(limit.states.values.allSatisfy { $0.inFlight == 0 })
            #expect(server.requestCount == 1 + sockets.count)
            for socket in sockets { try await expectOpen(socket) }
        }

        @Test func `The deadline ends with the agreement`() async throws {
            let clock = TestClock()
            let configuration = HTTPClient.Configuration(deadline: .seconds(5), deadlineCoversBody: true, clock: clock)
            let client = client(configuration)
            server.enqueue(.webSocket(Self.echo))
            let socket = try await client.webSocket("feed").connect()
            clock.advance(by: .seconds(100))
            try await expectOpen(socket)
            server.enqueue(.init(fault: .stall(.beforeHead)))
            let late = Task { try await client.webSocket("feed").connect() }
            _ = try await server.takeRequest()
            _ = try await server.takeRequest()
            await clock.pass(.seconds(5))
            let error = await #expect(throws: HTTPError.self) { try await late.value }
            #expect(error?.code == .deadlineExceeded)
        }

        @Test func `A record of the call keeps nothing of what is said`() async throws {
            final class Observer: CallObserver {
                let bodies = Locked<[Int?]>([])
                var keepsBodies: Int { 1_000 }
                func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
                    bodies.withLock { $0.append(exchange.responseBody?.bytes.count) }
                }
            }
            let observer = Observer()
            let configuration = HTTPClient.Configuration(observers: [observer])
            server.enqueue(.webSocket(Self.echo))
            let socket = try await client(configuration).webSocket("feed").connect()
            try await expectOpen(socket)
            try await socket.close()
            await eventually { observer.bodies.withLock { $0.count } == 1 }
            #expect(observer.bodies.withLock { $0 } == [nil])
        }

        @Test func `Connecting can be cancelled`() async throws {
            server.enqueue(.init(fault: .stall(.beforeHead)))
            let client = client()
            let task = Task { try await client.webSocket("feed").connect() }
            _ = try await server.takeRequest()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `A socket can be scripted without a network`() async throws {
            let stub = StubTransport { request in
                .webSocket(
                    answering: request, headers: ["Link": "<a>", "Link": "<b>"], subprotocol: "a", compresses: true
                ) { socket in
                    try await socket.send("first")
                    try await socket.echo()
                }
            }
            let client = testClient(baseURL: "https://example.com", transport: stub)
            let socket = try await client.webSocket("feed", protocols: ["a"]) { $0.compression = .offered }.connect()
            #expect(socket.isCompressing && socket.subprotocol == "a")
            #expect(socket.response.headers.values("Link") == ["<a>", "<b>"])
            let long = String(repeating: "x", count: 300_000)
            try await socket.send(long)
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("first"))
            #expect(try await messages.next() == .text(long))
            try await socket.close()
            #expect(try await messages.next() == nil)
        }

        @Test func `Transports that can't say so`() async throws {
            for transport in [urlSessionTransport(), curlTransport()] as [any HTTPTransport] {
                let client = testClient(baseURL: server.url(), transport: transport)
                let error = await #expect(throws: HTTPError.self) { try await client.webSocket("feed").connect() }
                #expect(
                    error?.code == .unsupported && error?.message.contains("WireTransport") == true && error?.phase == .notSent)
            }
            #expect(server.requestCount == 0)
            let stub = testClient(baseURL: server.url(), transport: StubTransport { HTTPResponse(status: 101, request: $0) })
            let error = await #expect(throws: HTTPError.self) { try await stub.webSocket("feed").connect() }
            #expect(error?.code == .protocolViolation)
        }
    }
#endif
