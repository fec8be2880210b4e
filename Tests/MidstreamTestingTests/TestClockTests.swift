import Dispatch
import Interception
import MidstreamTesting
import Testing

@Suite struct TestClockTests {
    /// What woke, in order.
    actor Log {
        private(set) var entries: [Int] = []
        func add(_ entry: Int) { entries.append(entry) }
    }

    @Test func standsStillUntilAdvanced() {
        let clock = TestClock()
        #expect(clock.now.offset == .zero)
        clock.advance(by: .seconds(2))
        clock.advance(by: .seconds(-1))
        #expect(clock.now.offset == .seconds(2))
        clock.advance(to: .init(offset: .seconds(1)))
        #expect(clock.now.offset == .seconds(2))
        clock.advance(to: .init(offset: .seconds(5)))
        #expect(clock.now == TestClock.Instant().advanced(by: .seconds(5)))
        #expect(clock.now.duration(to: .init()) == .seconds(-5))
    }

    @Test func aDeadlineThatHasComeDoesNotSuspend() async throws {
        let clock = TestClock()
        try await clock.sleep(for: .zero)
        clock.advance(by: .seconds(3))
        try await clock.sleep(until: .init(offset: .seconds(3)))
        #expect(clock.sleepers == 0)
    }

    @Test func wakesThoseWhoseDeadlineHasCome() async throws {
        let clock = TestClock()
        let log = Log()
        let tasks = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                await log.add(seconds)
            }
        }
        await clock.waitForSleepers(3)
        #expect(clock.nextDeadline == .init(offset: .seconds(1)))
        clock.advance(by: .milliseconds(999))
        #expect(clock.sleepers == 3)
        clock.advance(by: .milliseconds(1))
        try await tasks[1].value
        #expect(await log.entries == [1])
        #expect(clock.sleepers == 2)
        clock.advance(by: .seconds(1))
        try await tasks[2].value
        clock.advanceToLastDeadline()
        try await tasks[0].value
        #expect(await log.entries == [1, 2, 3])
        #expect(clock.now.offset == .seconds(3))
        #expect(clock.nextDeadline == nil)
    }

    @Test func wakesInTheOrderOfDeadlinesThenOfArrival() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let clock = TestClock()
        let log = Locked([String]())
        var tasks: [Task<Void, any Error>] = []
        for (name, seconds) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("d", 9)] {
            tasks.append(
                Task(executorPreference: SerialTaskExecutor.shared) {
                    try await clock.sleep(for: .seconds(seconds))
                    log.withLock { $0.append(name) }
                })
            await clock.waitForSleepers(tasks.count)
        }
        // The last one is on the clock's list, but may not have stopped running yet; what runs there next, comes after it.
        await Task(executorPreference: SerialTaskExecutor.shared) {}.value
        clock.advance(by: .seconds(10))
        for task in tasks { try await task.value }
        #expect(log.withLock { $0 } == ["a", "b1", "b2", "c", "d"])
    }

    @Test func cancellingASleeperThrowsWithoutTheClock() async {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleepers == 0)
        clock.advance(by: .seconds(2))
    }

    @Test func thoseWhoAreCancelledOnTheirWayAreNotThere() async {
        let clock = TestClock()
        for _ in 0..<200 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { try? await clock.sleep(for: .seconds(1)) } }
                await clock.waitForSleepers(25)
                group.cancelAll()
                #expect(clock.sleepers == 0)
            }
        }
    }

    @Test func aCancelledTaskDoesNotFallAsleep() async {
        let clock = TestClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .zero)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func waitingForSleepersSeesThoseThatCameBefore() async throws {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        await clock.waitForSleepers(1)
        await clock.waitForSleepers(0)
        clock.advance(by: .seconds(1))
        try await task.value
    }

    @Test func waitingForSleepersEndsWithItsTask() async {
        let clock = TestClock()
        let waiting = Task { await clock.waitForSleepers(5) }
        waiting.cancel()
        await waiting.value
    }

    @Test func manySleepersAreWokenWhileOthersAreCancelled() async {
        let clock = TestClock()
        let count = 500
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<count {
                group.addTask {
                    let task = Task { try await clock.sleep(until: .init(offset: .milliseconds(index % 10 + 1))) }
                    if index.isMultiple(of: 3) { task.cancel() }
                    return await task.result.isSuccess
                }
            }
            await clock.waitForSleepers(count / 2)
            for _ in 0..<10 { clock.advance(by: .milliseconds(1)) }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(outcomes >= count - (count + 2) / 3)
        #expect(clock.sleepers == 0)
    }

    @Test func drivesCodeThatTakesAnyClock() async throws {
        let clock = TestClock()
        let anyClock: any Clock<Duration> = clock
        let task = Task { try await anyClock.sleep(for: .seconds(60)) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(60))
        try await task.value
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// Runs tasks one at a time, in the order in which they were resumed.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class SerialTaskExecutor: TaskExecutor {
    static let shared = SerialTaskExecutor()
    private let queue = DispatchQueue(label: "serial")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
