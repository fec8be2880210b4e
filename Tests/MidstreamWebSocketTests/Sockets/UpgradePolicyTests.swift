import Interception
import Midstream
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import MidstreamWebSocket
import TestSupport
import Testing

/// What a client's own rules make of an upgrade, without a network.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UpgradePolicyTests {
    private func client(
        _ stub: StubTransport, @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        let configuration = HTTPClient.Configuration(timeout: nil, clock: TestClock())
        return testClient(
            baseURL: "https://a.example", configuration: configuration, transport: stub, interceptors: interceptors)
    }

    /// Redirects what is sent to a.example; everything else is an echo.
    private static func redirecting(to location: String) -> StubTransport {
        StubTransport { request in
            request.urlText.hasPrefix("https://a.example")
                ? HTTPResponse(status: .found, headers: [.location: location], request: request)
                : .webSocket(answering: request) { try await $0.echo() }
        }
    }

    @Test(arguments: ["wss://b.example/feed", "https://b.example/feed", "//b.example/feed"])
    func `Redirects from TLS to TLS are followed`(location: String) async throws {
        let stub = Self.redirecting(to: location)
        let socket = try await client(stub).webSocket("wss://a.example/feed").connect()
        #expect(socket.response.request.urlText == "https://b.example/feed")
        #expect(stub.requests.count == 2)
    }

    @Test func `A credential among the protocols is withheld, and kept from other origins`() async throws {
        let stub = Self.redirecting(to: "https://b.example/feed")
        let key = "api-key." + String(repeating: "k", count: 32)
        let socket = try await client(stub).webSocket("feed", protocols: ["realtime", key]).connect()
        #expect(stub.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["realtime, \(key)", nil])
        #expect(!"\(stub.requests[0]) \(socket.response.trace)".contains(key))
        // A server may choose it.
        let answer: HTTPHeaders = ["Sec-WebSocket-Protocol": key]
        #expect(!"\(answer) \(Redaction().value(key, of: "sec-websocket-protocol", in: answer))".contains(key))
    }

    @Test(arguments: ["ws://b.example/feed", "http://b.example/feed"])
    func `Redirects from TLS to none are refused, unless the policy allows them`(location: String) async throws {
        let stub = Self.redirecting(to: location)
        let error = await #expect(throws: HTTPError.self) { try await client(stub).webSocket("feed").connect() }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .found)
        #expect(stub.requests.count == 1)
        var request = HTTPRequest("feed")
        request.redirects = .follow(allowsDowngrade: true)
        let socket = try await client(stub).webSocket(request).connect()
        #expect(socket.response.request.urlText == "http://b.example/feed")
    }

    @Test(
        arguments: [
            (nil, .seconds(5), .seconds(5)), (.unlimited, .seconds(60), .seconds(60)), (nil, nil, .seconds(13)),
            (.unlimited, nil, .seconds(13)), (.unlimited, .unlimited, .seconds(13)),
        ] as [(Duration?, Duration?, Duration)])
    func `The body of a refusal is waited for until the call's limit, or for 10 s where it has none`(
        timeout: Duration?, deadline: Duration?, end: Duration
    ) async throws {
        let (clock, reading) = (TestClock(), Gate())
        let configuration = HTTPClient.Configuration(timeout: nil, deadline: deadline, validators: [], clock: clock)
        let stub = StubTransport { request in
            clock.advance(by: .seconds(3))
            let stalled: @Sendable () async throws -> [UInt8]? = {
                reading.open()
                try await untilCancelled()
                return nil
            }
            return HTTPResponse(status: .forbidden, body: .incoming(next: stalled, close: {}), request: request)
        }
        let client = testClient(baseURL: "https://a.example", configuration: configuration, transport: stub)
        var request = HTTPRequest("feed")
        request.timeout = timeout
        let feed = client.webSocket(request)
        let task = Task { try await feed.connect() }
        await reading.wait()
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline?.offset == end)
        clock.advanceToLastDeadline()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .forbidden)
    }

    @Test func `A stub's script is no part of the call that opens the socket`() async throws {
        let stub = StubTransport { request in
            .webSocket(answering: request) { socket in
                try await socket.send(ChainPosition.current == nil ? "apart" : "within")
                try await socket.echo()
            }
        }
        let socket = try await client(stub).webSocket("feed").connect()
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("apart"))
        try await socket.close()
    }

    @Test func `Refused upgrades open a breaker`() async throws {
        let stub = StubTransport(status: .serviceUnavailable)
        let client = client(stub) { CircuitBreaker(minimum: 2) }
        for code: HTTPError.Code in [.unacceptableStatus, .unacceptableStatus, .circuitOpen] {
            let error = await #expect(throws: HTTPError.self) { try await client.webSocket("feed").connect() }
            #expect(error?.code == code)
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `An upgrade takes its part of a quota`() async throws {
        let stub = StubTransport { request in .webSocket(answering: request) { try await $0.echo() } }
        let client = client(stub) { RateLimit(perSecond: 1, burst: 1, maximumWait: .zero) }
        let socket = try await client.webSocket("feed").connect()
        let error = await #expect(throws: HTTPError.self) { try await client.webSocket("feed").connect() }
        #expect(error?.code == .rateLimited && stub.requests.count == 1)
        try await socket.close()
    }
}
