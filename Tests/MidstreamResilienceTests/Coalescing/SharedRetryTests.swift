import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A retry of a shared call", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedRetryTests {
    private let bench = ArbiterBench()
    private let gate = Gate()
    private let coalescing = Coalescing()

    /// Of a server that wants to be left alone for a minute after the first answer.
    private var client: HTTPClient {
        let stub = StubTransport { [gate] request in
            await gate.wait()
            return HTTPResponse(
                status: request.attempt == 1 ? 503 : 200, headers: [.retryAfter: "60"], body: .text("answer"), request: request)
        }
        return bench.client(
            stub, maxRetries: 1, validators: [DefaultValidator(retriableStatus: [503: .immediate])],
            interceptors: { coalescing })
    }

    private func send(_ client: HTTPClient, within deadline: Duration?) -> Task<HTTPResponse, any Error> {
        var request = HTTPRequest("/")
        request.deadline = deadline
        return Task { [request] in try await client.send(request) }
    }

    @Test("isn't waited for that comes too late for all: they have the last answer")
    func tooLate() async throws {
        let client = client
        let isOver = Locked(false)
        let calls = [Duration.seconds(20), .seconds(30)].map { send(client, within: $0) }
        await eventually { coalescing.waiting == 2 }
        gate.open()
        let end = Task {
            for call in calls { _ = await call.result }
            isOver.withLock { $0 = true }
        }
        // A retry would be a third that sleeps.
        await eventually { isOver.withLock { $0 } || bench.clock.sleepers == 3 }
        bench.clock.advance(by: .seconds(30))
        for call in calls {
            let error = await call.result.httpError
            #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "answer")
        }
        await end.value
    }

    @Test("isn't waited for in an alternate either that comes too late for all")
    func tooLateForTheAlternate() async throws {
        let stub = StubTransport { request in
            let isLogin = request.urlText.hasSuffix("/login")
            return HTTPResponse(
                status: isLogin ? .serviceUnavailable : .unauthorized, headers: isLogin ? [.retryAfter: "60"] : [:],
                request: request)
        }
        let login = AlternateRequestValidator { _, _ in HTTPRequest("/login") }
        let client = bench.client(
            stub, maxRetries: 1, validators: [login, DefaultValidator(retriableStatus: [503: .immediate])],
            interceptors: { coalescing })
        let isOver = Locked(false)
        let call = send(client, within: .seconds(30))
        let end = Task {
            _ = await call.result
            isOver.withLock { $0 = true }
        }
        // The alternate would be a second that sleeps.
        await eventually { isOver.withLock { $0 } || bench.clock.sleepers == 2 }
        bench.clock.advance(by: .seconds(30))
        let error = await call.result.httpError
        #expect(error?.code == .authentication && (error?.underlying as? HTTPError)?.code == .unacceptableStatus)
        await end.value
    }

    @Test("is waited for as long as somebody has the time", arguments: [Duration.seconds(90), nil])
    func inTime(longest: Duration?) async throws {
        let client = client
        let first = send(client, within: .seconds(30))
        await eventually { coalescing.waiting == 1 }
        let second = send(client, within: longest)
        await eventually { coalescing.waiting == 2 }
        gate.open()
        await bench.clock.waitForSleepers(longest == nil ? 2 : 3)
        bench.clock.advance(by: .seconds(30))
        #expect(await first.result.httpError?.code == .deadlineExceeded)
        bench.clock.advance(by: .seconds(30))
        #expect(try await second.value.status == 200)
    }
}
