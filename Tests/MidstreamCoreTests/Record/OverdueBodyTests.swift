import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Writes down with which errors bodies end.
private final class Ends: CallObserver {
    let all = Locked<[String?]>([])

    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        guard case .failed(let error) = end else { return }
        let code = (error as? HTTPError)?.code.rawValue ?? "cancelled"
        all.withLock { $0 += [code, exchange.error] as [String?] }
    }
}

@Suite("The record of a body whose time is over", .leavesNothing, .timeLimit(.minutes(10)))
struct OverdueBodyTests {
    private let clock = TestClock()
    private let ends = Ends()
    private let reading = Gate()

    /// A client of a server whose bodies never come.
    private func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .seconds(5)
        configuration.clock = clock
        configuration.observers = [ends]
        let stub = StubTransport { [reading] request in
            let stalled: @Sendable () async throws -> [UInt8]? = {
                reading.open()
                try await untilCancelled()
                return nil
            }
            return HTTPResponse(status: .ok, body: .incoming(next: stalled, close: {}), request: request)
        }
        return testClient(baseURL: "https://h", configuration: configuration, transport: stub)
    }

    @Test("has the limit that ended it, as that of one which nobody watches", arguments: [true, false])
    func buffered(isWatched: Bool) async throws {
        var request = HTTPRequest("/")
        request.isWatchedArriving = isWatched
        let client = self.client()
        let call = Task { [request] in await httpError { try await client.send(request) } }
        await reading.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await call.value
        #expect(error?.code == .timeout)
        #expect(error?.callRecord?.exchanges.first?.error == "timeout")
        #expect(ends.all.withLock { $0 } == (isWatched ? ["timeout", "timeout"] : []))
    }

    @Test("has the deadline that covers it; without one its reader's cancellation stays that", arguments: [true, false])
    func streamed(isCovered: Bool) async throws {
        var request = HTTPRequest("/")
        request.deadline = .seconds(9)
        request.deadlineCoversBody = isCovered
        let body = try await client().stream(request).body
        let call = Task { try await body.collect() }
        await reading.wait()
        if isCovered { await clock.waitForSleepers(1) }
        clock.advance(by: .seconds(9))
        if !isCovered { call.cancel() }
        let result = await call.result
        #expect(result.httpError?.code == (isCovered ? .deadlineExceeded : nil))
        #expect((result.httpError?.request != nil) == isCovered)
        let told = isCovered ? "deadlineExceeded" : "cancelled"
        #expect(ends.all.withLock { $0 } == [told, told])
    }
}
