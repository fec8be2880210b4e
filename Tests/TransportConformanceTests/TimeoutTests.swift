import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// The timeout of an attempt and the deadline of a call end a request wherever it is. Only the code is looked at, never the time.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct TimeoutTests {
    enum Limit: CaseIterable, Sendable {
        case timeout, deadline

        var code: HTTPError.Code { self == .timeout ? .timeout : .deadlineExceeded }

        func client(on transport: TransportUnderTest) -> HTTPClient {
            transport.client { configuration in
                switch self {
                case .timeout: configuration.timeout = .milliseconds(30)
                case .deadline: configuration.deadline = .milliseconds(30)
                }
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Limit.allCases)
    func whileItConnects(transport: TransportUnderTest, limit: Limit) async throws {
        let port = try FullPort()
        let client = limit.client(on: transport)
        for delivery in Delivery.allCases {
            await expectError(limit.code) { try await delivery.send(HTTPRequest(port.url), by: client) }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Limit.allCases)
    func whileABodyOfBytesIsSent(transport: TransportUnderTest, limit: Limit) async throws {
        let silent = try SilentServer()
        let client = limit.client(on: transport)
        let body = HTTPBody.bytes([UInt8](repeating: 1, count: 32 << 20))
        for delivery in Delivery.allCases {
            await expectError(limit.code) { try await delivery.send(HTTPRequest(.put, silent.url, body: body), by: client) }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Limit.allCases)
    func whileABodyIsMade(transport: TransportUnderTest, limit: Limit) async throws {
        let silent = try SilentServer()
        let client = limit.client(on: transport)
        let standstill = Standstill()
        let body = HTTPBody.stream { standstill.stream(after: [[UInt8]("first")]) }
        await expectError(limit.code) { try await client.send(HTTPRequest(.put, silent.url, body: body)) }
        // The time may have been over before the body was asked for.
        if standstill.reached.hasHappened { await standstill.clientLeft.wait() }
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        [Fault.Place.beforeHead, .insideHead, .insideBody(afterBytes: 3)])
    func whileTheServerIsSilent(transport: TransportUnderTest, place: Fault.Place) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "body", fault: .stall(place)) }
        for limit in Limit.allCases {
            let client = limit.client(on: transport)
            await expectError(limit.code) { try await client.send(HTTPRequest(server.url())) }
            // A streamed body has all the time in the world.
            if case .insideBody = place { continue }
            await expectError(limit.code) { try await client.stream(HTTPRequest(server.url())) }
        }
        try await needing(.noticeOfLeaving, of: transport) { await eventually { server.openConnections <= 0 } }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aStreamedBodyMayTakeLongerThanTheTimeout(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let mayEnd = Event()
        let isFirst = FirstTime()
        server.enqueue(
            .init(
                body: .once(
                    AsyncStream<[UInt8]> {
                        if isFirst.take() { return [UInt8]("first") }
                        await mayEnd.wait()
                        return nil
                    })))
        let clock = TestClock()
        let client = transport.client { configuration in
            configuration.timeout = .seconds(1)
            configuration.clock = clock
        }
        let response = try await client.stream(HTTPRequest(server.url()))
        clock.advance(by: .seconds(100))
        mayEnd.happen()
        #expect(try await response.body.collect() == [UInt8]("first"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theClockOfTheClientDecides(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let standstill = Standstill()
        server.respond { _ in
            await standstill.wait()
            return .init()
        }
        let clock = TestClock()
        let client = transport.client { configuration in
            configuration.timeout = .seconds(3_600)
            configuration.clock = clock
        }
        let task = Task { try await client.send(HTTPRequest(server.url())) }
        await standstill.reached.wait()
        clock.advance(by: .seconds(3_601))
        await expectError(.timeout, .maybeProcessed) { try await task.value }
        try await needing(.noticeOfLeaving, of: transport) { await standstill.clientLeft.wait() }
    }
}
