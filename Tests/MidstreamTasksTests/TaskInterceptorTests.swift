import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTasks

@Suite("D2 A task interceptor observes and is called exactly once", .leavesNothing) struct TaskInterceptorTests {
    private struct Record<Element: Sendable>: RequestTaskInterceptor {
        let log: Log<Result<Element, any Error>>
        func output(_ result: Result<Element, any Error>) { log.add(result) }
    }

    @Test func itSeesASuccessOnceForEachResult() async throws {
        let log = Log<Result<Int, any Error>>()
        let task = MockedTask { 7 }.interceptor(Record(log: log))
        #expect(try await task.result() == 7)
        #expect(try await task.result() == 7)
        #expect(try log.entries.map { try $0.get() } == [7, 7])
    }

    @Test func itSeesAFailureOnceAndTheCallerGetsIt() async {
        let log = Log<Result<Int, any Error>>()
        let task = MockedTask<Int> { throw Failure("a") }.interceptor(Record(log: log))
        #expect(await failure { try await task.result() } as? Failure == Failure("a"))
        #expect(log.entries.count == 1)
        #expect(throws: Failure("a")) { try log.entries[0].get() }
    }

    @Test func itSeesACancellationOnce() async {
        let log = Log<Result<Int, any Error>>()
        let clock = TestClock()
        let task = MockedTask {
            try await clock.sleep(for: .seconds(1))
            return 1
        }.interceptor(Record(log: log))
        let running = Task { try await task.result() }
        await clock.waitForSleepers(1)
        running.cancel()
        #expect(await failure { try await running.value } is CancellationError)
        #expect(log.entries.count == 1)
        #expect(throws: CancellationError.self) { try log.entries[0].get() }
    }

    @Test func itSeesWhatIsAtItsPlace() async throws {
        let log = Log<String>()
        let task = MockedTask { 1 }
            .detach { log.add("inner \((try? $0.get()) ?? -1)") }
            .map { $0 + 1 }
            .detach { log.add("outer \((try? $0.get()) ?? -1)") }
        #expect(try await task.result() == 2)
        #expect(log.entries == ["inner 1", "outer 2"])
    }

    @Test func anInterceptorInsideARetrySeesEachTry() async throws {
        let log = Log<Bool>()
        let outer = Log<Bool>()
        let tries = Locked(0)
        let task = MockedTask<Int> {
            let count = tries.increment()
            if count < 3 { throw Failure() }
            return count
        }
        .detach { log.add((try? $0.get()) != nil) }
        .askAgain(5, when: { _ in true })
        .detach { outer.add((try? $0.get()) != nil) }
        #expect(try await task.result() == 3)
        #expect(log.entries == [false, false, true])
        #expect(outer.entries == [true])
    }

    @Test func logInConsoleWritesToTheLoggerOfTheEnvironment() async throws {
        let log = Log<String>()
        let logger: @Sendable (String) -> Void = { log.add($0) }
        let stub = StubTransport.json(#"{"id": 1, "name": "Ann"}"#)
        let task = HTTPClient.stubbed(stub).get("u?token=t0psecret")
        _ = try await task.logInConsole().logger(logger).result()
        _ = try await task.decode(User.self).extractPayload().logInConsole().logger(logger).result()
        _ = try await task.decode(User.self).extractPayload().logInConsole(showsValues: true).logger(logger).result()
        _ = try await task.logInConsole(false).logger(logger).result()
        _ = await failure { try await MockedTask<Int> { throw Failure("s3cret") }.logInConsole().logger(logger).result() }
        let lines = log.entries
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("[Success] 200 OK from GET https://example.com/u?token="))
        #expect(lines[0].hasSuffix("24 bytes"))
        #expect(lines[1] == "[Success] User")
        #expect(lines[2].contains("Ann"))
        #expect(lines[3] == "[Failure] Failure")
        #expect(!lines.joined().contains("t0psecret"))
    }

    @Test func aBreakpointStopsWhereItsConditionHolds() async throws {
        let stops = Locked(0)
        func run(_ value: Int) async throws {
            let task = MockedTask { value }.breakpoint(when: { (try? $0.get()) == 2 }, stop: { stops.withLock { $0 += 1 } })
            #expect(try await task.result() == value)
        }
        try await run(1)
        #expect(stops.withLock { $0 } == 0)
        try await run(2)
        #expect(stops.withLock { $0 } == 1)
    }

    @Test func aBreakpointWithoutADebuggerDoesNothing() async throws {
        #expect(try await MockedTask { 1 }.breakpoint().result() == 1)
    }
}
