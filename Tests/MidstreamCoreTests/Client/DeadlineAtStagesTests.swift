import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What interceptors find when the deadline of a call passes, and when its user cancels it.
@Suite("A deadline is told from a cancellation", .leavesNothing, .timeLimit(.minutes(10)))
struct DeadlineAtStagesTests {
    private let clock = TestClock()

    /// Writes down what arrives where it stands.
    private struct Witness: HTTPInterceptor {
        let stage: InterceptorStage
        let seen: Locked<[String]>

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch {
                let name = (error as? HTTPError)?.code.rawValue ?? "\(type(of: error))"
                seen.withLock { $0.append("\(stage) \(name)") }
                throw error
            }
        }
    }

    private func client(
        deadline: Duration? = .seconds(9), transport: StubTransport? = nil, recordsTrace: Bool = true,
        @PipelineBuilder interceptors: () -> [any HTTPInterceptor]
    ) -> HTTPClient {
        let silent = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        let configuration = HTTPClient.Configuration(
            timeout: nil, deadline: deadline, clock: clock, recordsTrace: recordsTrace)
        return testClient(
            baseURL: "https://h", configuration: configuration, transport: transport ?? silent, interceptors: interceptors)
    }

    private func afterDeadline<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        async let result = work()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(9))
        return try await result
    }

    @Test("at each stage", arguments: [true, false])
    func passes(recordsTrace: Bool) async throws {
        let seen = Locked<[String]>([])
        let client = client(recordsTrace: recordsTrace) {
            for stage in InterceptorStage.allCases { Witness(stage: stage, seen: seen) }
        }
        let error = await httpError { try await afterDeadline { try await client.send(HTTPRequest("/")) } }
        #expect(error?.code == .deadlineExceeded)
        #expect(seen.withLock { $0 } == ["exchange deadlineExceeded", "attempt deadlineExceeded", "call deadlineExceeded"])
    }

    @Test("and so a cancellation")
    func cancelled() async throws {
        let seen = Locked<[String]>([])
        let client = client {
            for stage in InterceptorStage.allCases { Witness(stage: stage, seen: seen) }
        }
        let call = Task { try await client.send(HTTPRequest("/")) }
        await clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(
            seen.withLock { $0 } == [
                "exchange CancellationError", "attempt CancellationError", "call CancellationError",
            ])
    }

    @Test("also where another interceptor of the call waits for something of its own")
    func waitOfAnInterceptor() async throws {
        let seen = Locked<[String]>([])
        let client = client(transport: .ok) {
            Witness(stage: .call, seen: seen)
            ClosureRequestInterceptor(stage: .call) { _ in try await untilCancelled() }
        }
        _ = await httpError { try await afterDeadline { try await client.send(HTTPRequest("/")) } }
        #expect(seen.withLock { $0 } == ["call deadlineExceeded"])
    }

    @Test("and where an interceptor has set the deadline")
    func setByAnInterceptor() async throws {
        let seen = Locked<[String]>([])
        for recordsTrace in [true, false] {
            seen.withLock { $0 = [] }
            let client = client(deadline: .seconds(100), recordsTrace: recordsTrace) {
                Witness(stage: .call, seen: seen)
                ClosureRequestInterceptor(stage: .call) { $0.deadline = .seconds(9) }
                Witness(stage: .attempt, seen: seen)
            }
            async let error = httpError { try await client.send(HTTPRequest("/")) }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(9))
            #expect(await error?.code == .deadlineExceeded)
            #expect(seen.withLock { $0 } == ["attempt deadlineExceeded", "call deadlineExceeded"])
        }
    }

    @Test("A fallback at the call's stage may answer")
    func fallback() async throws {
        let client = client {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                do {
                    return try await next(request)
                } catch let error as HTTPError where error.code == .deadlineExceeded {
                    return HTTPResponse(status: .ok, body: "stale", request: request)
                }
            }
        }
        let response = try await afterDeadline { try await client.send(HTTPRequest("/")) }
        #expect(response.body.bytes == Array("stale".utf8))
    }

    @Test("An answer that comes too late is none, at any stage")
    func tooLate() async throws {
        let seen = Locked<[String]>([])
        let stubborn = StubTransport { [clock] request in
            try? await clock.sleep(for: .seconds(20))
            return HTTPResponse(status: .ok, request: request)
        }
        let client = client(transport: stubborn) { Witness(stage: .call, seen: seen) }
        async let error = httpError { try await client.send(HTTPRequest("/")) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(9))
        #expect(await error?.code == .deadlineExceeded)
        #expect(seen.withLock { $0 } == ["call deadlineExceeded"])
    }

    @Test("A call that is made within another one knows that one's deadline")
    func nested() async throws {
        let seen = Locked<[String]>([])
        let inner = client(deadline: nil) {
            Witness(stage: .call, seen: seen)
            Witness(stage: .exchange, seen: seen)
        }
        let outer = client(transport: .ok) {
            ClosureRequestInterceptor { _ in _ = try await inner.send(HTTPRequest("/")) }
        }
        let error = await httpError { try await afterDeadline { try await outer.send(HTTPRequest("/")) } }
        #expect(error?.code == .deadlineExceeded)
        #expect(seen.withLock { $0 } == ["exchange deadlineExceeded", "call deadlineExceeded"])
    }

    @Test("So does one that a task from within it makes afterwards, unless that is detached", arguments: [false, true])
    func afterwards(isDetached: Bool) async throws {
        let gate = Gate()
        let begun = Locked<Task<HTTPStatus, any Error>?>(nil)
        let inner = client(deadline: nil, transport: .ok) {}
        let late = { @Sendable () async throws -> HTTPStatus in
            await gate.wait()
            return try await inner.send(HTTPRequest("/")).status
        }
        let outer = client(transport: .ok) {
            ClosureRequestInterceptor { _ in
                let task = isDetached ? Task.detached { try await late() } : Task { try await late() }
                begun.withLock { $0 = task }
            }
        }
        _ = try await outer.send(HTTPRequest("/"))
        clock.advance(by: .seconds(9))
        gate.open()
        let task = try #require(begun.withLock { $0 })
        let code = await task.result.httpError?.code
        #expect(code == (isDetached ? nil : .deadlineExceeded))
    }

    /// Equal to any other on the same base.
    private struct ValueClock: Clock, Equatable {
        let base: TestClock

        var now: TestClock.Instant { base.now }
        var minimumResolution: Swift.Duration { base.minimumResolution }

        func sleep(until deadline: TestClock.Instant, tolerance: Swift.Duration?) async throws {
            try await base.sleep(until: deadline, tolerance: tolerance)
        }

        static func == (one: Self, other: Self) -> Bool { one.base === other.base }
    }

    @Test("A call that is made within another one knows that one's deadline by a clock that is a value, too, if it is the same")
    func nestedByValues() async throws {
        let pairs: [(any Clock<Duration>, any Clock<Duration>, Bool)] = [
            (SuspendingClock(), SuspendingClock(), true),
            (ValueClock(base: clock), ValueClock(base: clock), true),
            (ValueClock(base: clock), ValueClock(base: TestClock()), false),
            (ValueClock(base: clock), SuspendingClock(), false),
        ]
        for (outerClock, innerClock, isSame) in pairs {
            let seen = Locked<[Bool]>([])
            let inner = testClient(
                baseURL: "https://h", configuration: HTTPClient.Configuration(timeout: nil, deadline: nil, clock: innerClock),
                transport: StubTransport.ok
            ) {
                ClosureHTTPInterceptor(stage: .call) { request, next in
                    seen.withLock { $0.append(next.timeLeft != nil) }
                    return try await next(request)
                }
            }
            let outer = testClient(
                baseURL: "https://h",
                configuration: HTTPClient.Configuration(timeout: nil, deadline: .seconds(600), clock: outerClock),
                transport: StubTransport.ok
            ) {
                ClosureRequestInterceptor { _ in _ = try await inner.send(HTTPRequest("/")) }
            }
            _ = try await outer.send(HTTPRequest("/"))
            #expect(seen.withLock { $0 } == [isSame])
        }
    }

    @Test("How much time is left is the least of the attempt's and the call's")
    func timeLeft() async throws {
        let seen = Locked<[Duration?]>([])
        let clock = clock
        let client = client(deadline: .seconds(9), transport: .ok) {
            for stage in [InterceptorStage.call, .attempt] {
                ClosureHTTPInterceptor(stage: stage) { request, next in
                    clock.advance(by: .seconds(1))
                    seen.withLock { $0.append(next.timeLeft) }
                    return try await next(request)
                }
            }
        }
        _ = try await client.send(HTTPRequest("/"))
        var request = HTTPRequest("/")
        request.timeout = .seconds(3)
        _ = try await client.send(request)
        request.deadline = .unlimited
        _ = try await client.send(request)
        #expect(seen.withLock { $0 }.prefix(4) == [.seconds(8), .seconds(7), .seconds(8), .seconds(2)])
        // Without a limit there is none to be told.
        #expect(Array(seen.withLock { $0 }.suffix(2)) == [nil, .seconds(2)])
    }
}
