import Interception
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Permits and their queue", .leavesNothing, .timeLimit(.minutes(10)))
struct PermitsTests {
    /// What has no place in arrays and expectations itself.
    private final class Kept: Sendable {
        let permit: Permits.Permit
        init?(_ permit: consuming Permits.Permit?) {
            guard let permit = consume permit else { return nil }
            self.permit = permit
        }
    }

    private func take(_ permits: Permits, isSheddable: Bool = false) -> Kept? {
        Kept(permits.take(isSheddable: isSheddable, at: 0))
    }

    private func permit(of waiter: Permits.Waiter, in permits: Permits) -> Kept? { Kept(permits.leave(waiter)) }

    @Test("a permit comes back when nobody holds it any more, and counts how long the answer took")
    func comesBack() {
        let permits = Permits("k", .fixed(1), queue: 0)
        do {
            var permit = permits.take(isSheddable: false, at: 0)
            #expect(take(permits) == nil && permits.snapshot.inFlight == 1)
            permit?.answered(after: 5_000_000, at: 7)
            #expect(permits.quantile(0.5, at: 7) == nil)
        }
        #expect(permits.snapshot.inFlight == 0)
        #expect(permits.quantile(0.5, at: 7) != nil)
    }

    @Test("under pressure those who came last are served first")
    func lastInFirstOut() async throws {
        let permits = Permits("k", .fixed(1), queue: 3)
        var first = take(permits)
        #expect(first != nil)
        let steps = Steps()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                let waiter = try #require(permits.enqueue(isSheddable: false))
                group.addTask {
                    _ = await waiter.suspension.wait()
                    let permit = try #require(self.permit(of: waiter, in: permits))
                    steps.note("\(number)")
                    withExtendedLifetime(permit) {}
                }
            }
            first = nil
            try await group.waitForAll()
        }
        // 3 of 3 wait: the last; 2 of 3: the last; 1 of 3: what is left.
        #expect(steps.all == ["3", "2", "1"])
        #expect(permits.snapshot.inFlight == 0)
    }

    @Test("the tenth that is kept from the sheddable is there for others, whoever waits")
    func tenth() throws {
        let permits = Permits("k", .fixed(10), queue: 5)
        var kept = (0..<9).map { _ in take(permits, isSheddable: true) }
        #expect(!kept.contains { $0 == nil })
        #expect(take(permits, isSheddable: true) == nil)
        let sheddable = try #require(permits.enqueue(isSheddable: true))
        kept.append(take(permits))
        #expect(take(permits) == nil)
        let other = try #require(permits.enqueue(isSheddable: false))
        // The one that comes back is the other's, and the next ones aren't those of the sheddable until a tenth is free.
        kept.removeLast()
        #expect(permits.snapshot == .init(limit: 10, inFlight: 10, queued: 1))
        kept.removeLast()
        #expect(permits.snapshot == .init(limit: 10, inFlight: 9, queued: 1))
        kept.removeLast()
        #expect(permits.snapshot == .init(limit: 10, inFlight: 9, queued: 0))
        #expect(permit(of: sheddable, in: permits) != nil && permit(of: other, in: permits) != nil)
    }

    @Test("those that aren't sheddable go first, in their order, and take the place of the last sheddable one")
    func ordinaryFirst() throws {
        let permits = Permits("k", .fixed(2), queue: 8)
        var kept = (0..<2).map { _ in take(permits) }
        #expect(!kept.contains { $0 == nil })
        let kinds = [true, false, true, false]
        let waiters = try kinds.map { kind in try #require(permits.enqueue(isSheddable: kind)) }
        // Half of the places are taken: the first to come first. One permit alone is the sheddable one's.
        for served in [1, 3, 0, 2] {
            kept = []
            kept = [permit(of: waiters[served], in: permits)]
            #expect(kept[0] != nil)
        }
        kept = []
        #expect(permits.snapshot == .init(limit: 2, inFlight: 0, queued: 0))
        let full = Permits("k", .fixed(1), queue: 3)
        let only = take(full)
        let three = try [true, false, true].map { kind in try #require(full.enqueue(isSheddable: kind)) }
        #expect(full.enqueue(isSheddable: true) == nil)
        let other = try #require(full.enqueue(isSheddable: false))
        #expect(three.map(\.suspension.isOver) == [false, false, true])
        withExtendedLifetime((only, other)) {}
    }

    @Test("a limit that grows lets in who waits")
    func grows() {
        let permits = Permits("k", .adaptive(start: 4, in: 1...100), queue: 5)
        let kept = (0..<4).map { _ in take(permits) }
        let waiters = (0..<2).map { _ in permits.enqueue(isSheddable: false) }
        #expect(permits.snapshot.inFlight == 4 && permits.snapshot.queued == 2)
        for tick in 0..<7 { permits.answered(after: 1_000_000, at: Int64(tick) * 100_000_000) }
        #expect(permits.snapshot == .init(limit: 6, inFlight: 6, queued: 0))
        withExtendedLifetime((kept, waiters)) {}
    }

    @Test("a permit that was granted to one who doesn't take it comes back")
    func notTaken() throws {
        let permits = Permits("x", .fixed(1), queue: 1)
        var first = take(permits)
        var waiter = permits.enqueue(isSheddable: false)
        #expect(waiter != nil && first != nil)
        first = nil
        #expect(permits.snapshot == .init(limit: 1, inFlight: 1, queued: 0))
        waiter = nil
        #expect(permits.snapshot.inFlight == 0)
    }

    @Test("none is lost between a grant, a cancellation and the end of the time, and nobody waits for ever", arguments: 0..<20)
    func rounds(seed: UInt64) async {
        let permits = Permits("k", .fixed(2), queue: 6)
        let random = SimulatedRandom(seed: seed)
        for _ in 0..<50 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    let (pauses, patience, limit) = (random.next() % 4, random.next() % 6, random.next() % 3)
                    group.addTask {
                        let call = Task {
                            guard let permit = await self.wait(permits, limit == 0 ? .microseconds(50) : nil) else { return }
                            for _ in 0..<pauses { await Task.yield() }
                            withExtendedLifetime(permit) {}
                        }
                        for _ in 0..<patience { await Task.yield() }
                        if limit == 1 { call.cancel() }
                        await call.value
                    }
                }
            }
            #expect(permits.snapshot == .init(limit: 2, inFlight: 0, queued: 0))
        }
    }

    private func wait(_ permits: Permits, _ limit: Duration?) async -> Kept? {
        if let permit = take(permits) { return permit }
        guard let waiter = permits.enqueue(isSheddable: false) else { return nil }
        _ = await waiter.suspension.wait(for: limit, on: .system)
        return permit(of: waiter, in: permits)
    }
}
