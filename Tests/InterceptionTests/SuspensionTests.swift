import Dispatch
import MidstreamTesting
import TestSupport
import Testing

@testable import Interception

@Suite("Suspension", .timeLimit(.minutes(10)))
struct SuspensionTests {
    @Test("a value that came before is returned at once, even to a cancelled task")
    func before() async {
        let suspension = Suspension<Int>()
        #expect(suspension.resume(1))
        let task = Task {
            try? await untilCancelled()
            return await suspension.wait().name
        }
        task.cancel()
        #expect(await task.value == "value 1")
    }

    @Test("a value ends a wait, once")
    func during() async {
        let suspension = Suspension<Int>()
        let task = Task { await suspension.wait().name }
        await suspension.parked()
        #expect(suspension.resume(1))
        #expect(!suspension.resume(2))
        #expect(await task.value == "value 1")
    }

    @Test("a cancelled task doesn't park, and a value is refused from then on")
    func cancelledBefore() async {
        let suspension = Suspension<Int>()
        let task = Task {
            try? await untilCancelled()
            return await suspension.wait().name
        }
        task.cancel()
        #expect(await task.value == "cancelled")
        #expect(!suspension.resume(1))
    }

    @Test("cancellation ends a wait")
    func cancelledDuring() async {
        let suspension = Suspension<Int>()
        let task = Task { await suspension.wait().name }
        await suspension.parked()
        task.cancel()
        #expect(await task.value == "cancelled")
        #expect(!suspension.resume(1))
    }

    @Test("with no time left nothing is waited for: a value that is there counts, and a cancellation", arguments: [0, -1])
    func noTime(seconds: Int) async {
        let clock = TestClock()
        let (none, early) = (Suspension<Int>(), Suspension<Int>())
        early.resume(1)
        #expect(await none.wait(for: .seconds(seconds), on: ClockTimer(clock)).name == "timed out")
        #expect(await early.wait(for: .seconds(seconds), on: .system).name == "value 1")
        #expect(!none.resume(1))
        let task = Task {
            try? await untilCancelled()
            return await Suspension<Int>().wait(for: .seconds(seconds), on: .system).name
        }
        task.cancel()
        #expect(await task.value == "cancelled")
        #expect(clock.sleepers == 0)
    }

    @Test("a wait ends when its time is over")
    func timedOut() async {
        let clock = TestClock()
        let suspension = Suspension<Int>()
        let task = Task { await suspension.wait(for: .seconds(2), on: ClockTimer(clock)).name }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        #expect(await task.value == "timed out")
        #expect(!suspension.resume(1))
        #expect(await Suspension<Int>().wait(for: .milliseconds(1), on: .system).name == "timed out")
    }

    @Test("a wait that ends in time leaves nothing on the clock")
    func inTime() async {
        let clock = TestClock()
        let suspensions = (0..<3).map { _ in Suspension<Int>() }
        let tasks = suspensions.map { suspension in
            Task { await suspension.wait(for: .seconds(60), on: ClockTimer(clock)).name }
        }
        await clock.waitForSleepers(3)
        suspensions[0].resume(1)
        tasks[1].cancel()
        #expect(await tasks[0].value == "value 1")
        #expect(await tasks[1].value == "cancelled")
        await eventually { clock.sleepers == 1 }
        suspensions[2].resume(2)
        #expect(await tasks[2].value == "value 2")
        await eventually { clock.sleepers == 0 }
    }

    @Test("without a limit no clock is needed")
    func noLimit() async {
        let clock = TestClock()
        let suspension = Suspension<Void>()
        let task = Task { await suspension.wait(for: nil, on: ClockTimer(clock)).name }
        await suspension.parked()
        #expect(clock.sleepers == 0)
        #expect(suspension.resume())
        #expect(await task.value == "value ()")
    }

    @Test("what waits for the value alone isn't cancelled")
    func shielded() async {
        let suspension = Suspension<Int>()
        let task = Task { await suspension.value() }
        task.cancel()
        await suspension.parked()
        #expect(suspension.resume(1))
        #expect(await task.value == 1)
    }

    @Test("it has a limit nevertheless, if one is given")
    func shieldedWithLimit() async {
        let clock = TestClock()
        let (early, late, none) = (Suspension<Int>(), Suspension<Int>(), Suspension<Int>())
        let tasks = [early, late].map { suspension in
            Task { await suspension.value(within: .seconds(1), on: ClockTimer(clock)) }
        }
        for task in tasks { task.cancel() }
        await clock.waitForSleepers(2)
        early.resume(1)
        #expect(await tasks[0].value == 1)
        clock.advance(by: .seconds(1))
        #expect(await tasks[1].value == nil)
        #expect(!late.resume(1))
        #expect(late.isOver && !none.isOver)
        #expect(await none.value(within: .zero, on: .system) == nil)
    }

    @Test("of all that may happen, in any order, the first counts", arguments: Step.orders)
    func orders(order: [Step]) async {
        let suspension = Suspension<Int>()
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return await suspension.wait().name
        }
        await gate.reached()
        for step in order {
            switch step {
            case .value: #expect(suspension.resume(1) == (order.first { $0 != .park } == .value))
            case .due: suspension.timerFired()
            case .cancel: suspension.end(.cancelled)
            case .park:
                gate.open()
                if order[0] == .park { await suspension.parked() } else { _ = await task.value }
            }
        }
        #expect(await task.value == order.first { $0 != .park }?.rawValue)
    }

    enum Step: String, CaseIterable, Sendable {
        case value = "value 1"
        case due = "timed out"
        case cancel = "cancelled"
        case park

        static let orders = orders(of: allCases)

        private static func orders(of steps: [Step]) -> [[Step]] {
            steps.isEmpty ? [[]] : steps.flatMap { first in orders(of: steps.filter { $0 != first }).map { [first] + $0 } }
        }
    }

    @Test("values, cancellations and times that race end each wait once, and by the value if it was accepted")
    func races() async {
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<5_000 as Range<UInt64> { group.addTask { await race(seed) } }
        }
    }

    private func race(_ seed: UInt64) async {
        let suspension = Suspension<Int>()
        let waiting = Task {
            await spin(seed % 7)
            return await suspension.wait(for: seed % 3 == 0 ? .microseconds(seed % 50) : nil, on: .system).name
        }
        async let first = offer(1, to: suspension, after: seed % 5)
        async let second = offer(2, to: suspension, after: seed % 11)
        if seed % 2 == 0 {
            await spin(seed % 13)
            waiting.cancel()
        }
        let (isFirst, isSecond, ending) = await (first, second, waiting.value)
        switch (isFirst, isSecond) {
        case (true, false): #expect(ending == "value 1")
        case (false, true): #expect(ending == "value 2")
        case (false, false): #expect(ending == "cancelled" && seed % 2 == 0 || ending == "timed out" && seed % 3 == 0)
        case (true, true): Issue.record("Two values were accepted.")
        }
    }

    private func offer(_ value: Int, to suspension: Suspension<Int>, after count: UInt64) async -> Bool {
        await spin(count)
        return suspension.resume(value)
    }

    private func spin(_ count: UInt64) async { for _ in 0..<count { await Task.yield() } }

    @Test("it holds no lock while it resumes, and is over by then", arguments: [false, true])
    func noLock(isCancelled: Bool) async {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let suspension = Suspension<Int>()
        let executor = LookingExecutor(suspension)
        let task = Task(executorPreference: executor) { await suspension.wait().name }
        await suspension.parked()
        if isCancelled { task.cancel() } else { suspension.resume(1) }
        #expect(await task.value == (isCancelled ? "cancelled" : "value 1"))
        #expect(executor.lastSeen == true)
    }

    @Test("a queue of suspensions loses no permit, whoever leaves it")
    func permits() async {
        let permits = PermitQueue(3)
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<3_000 as Range<UInt64> {
                group.addTask {
                    let task = Task {
                        guard await permits.enter(for: seed % 3 == 0 ? .microseconds(seed % 80) : nil) else { return }
                        await spin(seed % 3)
                        permits.leave()
                    }
                    if seed % 2 == 0 {
                        await spin(seed % 9)
                        task.cancel()
                    }
                    await task.value
                }
            }
        }
        #expect(permits.isWhole)
    }
}

/// The least that hands permits over to those who wait.
private final class PermitQueue: Sendable {
    private let total: Int
    private let state: Locked<(free: Int, inUse: Int, queue: [Suspension<Void>])>

    init(_ total: Int) {
        self.total = total
        state = Locked((total, 0, []))
    }

    var isWhole: Bool { state.withLock { $0.free == total && $0.inUse == 0 && $0.queue.isEmpty } }

    func enter(for limit: Duration?) async -> Bool {
        let suspension = Suspension<Void>()
        let isFree = state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return true
            }
            state.queue.append(suspension)
            return false
        }
        if !isFree {
            guard case .value = await suspension.wait(for: limit, on: .system) else {
                state.withLock { $0.queue.removeAll { $0 == suspension } }
                return false
            }
        }
        #expect(
            state.withLock { state in
                state.inUse += 1
                return state.inUse
            } <= total)
        return true
    }

    func leave() {
        state.withLock { $0.inUse -= 1 }
        while true {
            let next = state.withLock { state -> Suspension<Void>? in
                if state.queue.isEmpty {
                    state.free += 1
                    return nil
                }
                return state.queue.removeFirst()
            }
            guard let next else { return }
            if next.resume() { return }
        }
    }
}

/// Looks at a suspension whenever a task is to run, in the thread that wants it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class LookingExecutor: TaskExecutor {
    private let suspension: Suspension<Int>
    private let queue = DispatchQueue(label: "looking")
    private let look = Locked<Bool?>(nil)

    init(_ suspension: Suspension<Int>) { self.suspension = suspension }

    /// Whether the wait was over the last time; nil: its lock was held.
    var lastSeen: Bool? { look.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOver = suspension.state.withLockIfFree { state in
            switch state {
            case .pending, .parked: false
            case .ended, .over: true
            }
        }
        look.withLock { $0 = isOver }
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension Suspension.Ending {
    fileprivate var name: String {
        switch self {
        case .value(let value): "value \(value)"
        case .cancelled: "cancelled"
        case .timedOut: "timed out"
        }
    }
}

extension Suspension {
    /// Waits until a task is parked.
    fileprivate func parked() async {
        await eventually { state.withLock { if case .parked = $0 { true } else { false } } }
    }
}
