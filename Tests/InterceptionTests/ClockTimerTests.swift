import Interception
import MidstreamTesting
import TestSupport
import Testing

@Suite("ClockTimer", .timeLimit(.minutes(10)))
struct ClockTimerTests {
    @Test("a nearer entry is called though a farther one was there first")
    func order() async {
        let calls = Calls()
        let far = ClockTimer.system.schedule(calls.listener("far"), after: .seconds(3_600))
        let near = ClockTimer.system.schedule(calls.listener("near"), after: .milliseconds(20))
        let now = ClockTimer.system.schedule(calls.listener("now"), after: .zero)
        await eventually { calls.names.count == 2 }
        #expect(Set(calls.names) == ["near", "now"])
        for entry in [far, near, now] { entry.cancel() }
    }

    @Test("nobody is called before its time")
    func notEarly() async {
        let ends = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 as Range<Int64> {
                group.addTask {
                    let due = continuousNanoseconds() + number * 7_001
                    let ending = await Suspension<Never>().wait(for: .nanoseconds(number * 7_001), on: .system)
                    guard case .timedOut = ending else { return false }
                    return continuousNanoseconds() >= due
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count == 1_000 && ends.allSatisfy { $0 })
    }

    @Test("a cancelled entry is released at once, and its listener not called")
    func cancelled() async {
        let calls = Calls()
        weak var listener: Listener?
        let entry: ClockTimer.Entry
        do {
            let kept = calls.listener("cancelled")
            listener = kept
            entry = ClockTimer.system.schedule(kept, after: .seconds(3_600))
        }
        #expect(listener != nil)
        entry.cancel()
        #expect(listener == nil)
        let due = continuousNanoseconds() + 20_000_000
        let soon = ClockTimer.system.schedule(calls.listener("cancelled"), after: .milliseconds(20))
        _ = ClockTimer.system.schedule(calls.listener("called"), after: .milliseconds(40))
        soon.cancel()
        // On a machine that stood still, it was called before it could be cancelled.
        let isInTime = continuousNanoseconds() < due
        await eventually { calls.names.contains("called") }
        #expect(calls.names == ["called"] || !isInTime)
    }

    @Test("on another clock an entry is one sleeper, whose time counts from when it was scheduled")
    func otherClock() async {
        let clock = TestClock()
        let timer = ClockTimer(clock)
        let calls = Calls()
        let entries = [3, 1, 2].map { timer.schedule(calls.listener("\($0)"), after: .seconds($0)) }
        // Whether or not their tasks sleep by now.
        clock.advance(by: .seconds(1))
        await eventually { calls.names == ["1"] }
        await clock.waitForSleepers(2)
        entries[2].cancel()
        await eventually { clock.sleepers == 1 }
        clock.advance(by: .seconds(5))
        await eventually { calls.names == ["1", "3"] }
    }

    @Test("a clock that fails leaves nobody waiting")
    func failingClock() async {
        let calls = Calls()
        _ = ClockTimer(BrokenClock()).schedule(calls.listener("called"), after: .seconds(60))
        await eventually { calls.names == ["called"] }
    }

    @Test("the longest time can be waited for", arguments: [ContinuousClock(), SuspendingClock()] as [any Clock<Duration>])
    func longest(clock: any Clock<Duration>) async {
        let calls = Calls()
        let timer = ClockTimer(clock)
        let longest = Duration.seconds(Int64.max)
        let delays = [longest, longest * 2, .nanoseconds(1), .seconds(-5), longest * -2]
        let entries = delays.map { timer.schedule(calls.listener("\($0 > .seconds(1))"), after: $0) }
        await eventually { calls.names == ["false", "false", "false"] }
        for entry in entries { entry.cancel() }
    }

    @Test("a sleep ends at its time or with the task", arguments: [true, false])
    func sleep(onSystemClock: Bool) async throws {
        let timer = onSystemClock ? ClockTimer.system : ClockTimer(TestClock())
        try await timer.sleep(for: .zero)
        if onSystemClock { try await timer.sleep(for: .milliseconds(1)) }
        let task = Task { try await timer.sleep(for: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("entries of many threads are called or cancelled, each")
    func many() async {
        let calls = Calls()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4_000 {
                group.addTask {
                    let entry = ClockTimer.system.schedule(
                        calls.listener("\(number)"), after: number % 2 == 0 ? .microseconds(number) : .seconds(60))
                    if number % 2 == 1 { entry.cancel() }
                }
            }
        }
        await eventually { calls.names.count >= 2_000 }
        #expect(Set(calls.names).count == 2_000 && calls.names.allSatisfy { Int($0).map { $0 % 2 == 0 } ?? false })
    }
}

/// Which listeners were called.
private struct Calls: Sendable {
    fileprivate let called = Locked([String]())

    var names: [String] { called.withLock { $0 } }

    func listener(_ name: String) -> Listener { Listener(name: name, calls: self) }
}

private final class Listener: TimerListener {
    private let name: String
    private let calls: Calls

    init(name: String, calls: Calls) {
        self.name = name
        self.calls = calls
    }

    func timerFired() { calls.called.withLock { $0.append(name) } }
}

private struct BrokenClock: Clock {
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { throw Failure() }
}
