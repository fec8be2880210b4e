import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("The timer of hedges", .leavesNothing, .timeLimit(.minutes(10)))
struct HedgeTimerTests {
    private let clock = TestClock()

    private func set(_ timer: HedgeTimer, at due: Duration) -> (alarm: HedgeTimer.Alarm, race: RaceEvents) {
        let race = RaceEvents()
        let clock = clock
        return (timer.set(for: race, at: due.wholeNanoseconds, on: clock) { clock.now.offset.wholeNanoseconds }, race)
    }

    private func isLate(_ race: RaceEvents) -> Bool {
        if case .isLate? = race.takeAtOnce() { true } else { false }
    }

    @Test("tells all in time, with one that sleeps, whoever comes and leaves meanwhile", arguments: 0..<20)
    func order(seed: UInt64) async throws {
        let timer = HedgeTimer()
        let random = SimulatedRandom(seed: seed)
        var waiting: [(due: Duration, alarm: HedgeTimer.Alarm, race: RaceEvents)] = []
        for step in 0..<200 {
            let due = clock.now.offset + .milliseconds(1 + Int(random.next() % 50))
            let (alarm, race) = set(timer, at: due)
            waiting.append((due, alarm, race))
            if waiting.count > 1, random.next() % 2 == 0 {
                let gone = waiting.remove(at: Int(random.next() % UInt64(waiting.count)))
                timer.remove(gone.alarm)
                timer.remove(gone.alarm)
                #expect(!isLate(gone.race))
            }
            guard step % 10 == 9 else { continue }
            // It sleeps for a time: from a later now it would do so for too long.
            let first = try #require(waiting.map(\.due).min())
            await eventually { clock.nextDeadline.map { $0.offset <= first } == true }
            clock.advance(by: .milliseconds(20))
            let told = waiting.filter { $0.due <= clock.now.offset }
            waiting.removeAll { $0.due <= clock.now.offset }
            await eventually { timer.count == waiting.count }
            for race in told.map(\.race) { await eventually { isLate(race) } }
            for race in waiting.map(\.race) { #expect(!isLate(race)) }
            #expect(clock.sleepers <= 1)
        }
        for (_, alarm, _) in waiting { timer.remove(alarm) }
        #expect(timer.count == 0)
    }

    @Test("its task ends when nobody is left, and with it")
    func ends() async throws {
        var timer: HedgeTimer? = HedgeTimer()
        let race = set(try #require(timer), at: .seconds(1))
        await clock.waitForSleepers(1)
        timer?.remove(race.alarm)
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        await eventually { clock.sleepers == 0 }
        _ = set(try #require(timer), at: .seconds(9))
        await clock.waitForSleepers(1)
        timer = nil
        await eventually { clock.sleepers == 0 }
    }
}
