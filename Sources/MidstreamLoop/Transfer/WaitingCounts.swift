#if os(Linux)
    internal import Interception
    import Synchronization

    /// What a transfer waits for.
    package struct WantedPlace: Hashable, Sendable {
        let host: Int
        /// Whether it shares its connection with nobody.
        let isOwn: Bool
    }

    /// How many transfers wait for a connection on each of several loops.
    ///
    /// The limits are divided among the loops, but nobody is to wait on one while another has room. So a loop that gets room looks here, keeps
    /// the place, claims one of those that wait for it elsewhere, and asks their loop for it. Other loops may have had room before, so the first
    /// that waits for a host is shown to each of them in turn. Those that come while it is unclaimed needn't be: the loops that have seen it had
    /// no room and look here when they get some, and the others will be asked.
    package final class WaitingCounts: Sendable {
        private struct Count {
            var waiting = 0
            /// How many other loops have kept a place for.
            var claimed = 0
            /// Some that were claimed may have ended their waiting meanwhile.
            var unclaimed: Int { max(0, waiting - claimed) }
        }

        private struct State {
            /// None before all have been made, and once they are to end.
            var loops: [any TransferLoop] = []
            /// By what is waited for, and by the loop's number.
            var counts: [WantedPlace: [Int: Count]] = [:]

            func unclaimed(_ wanted: WantedPlace) -> Int { counts[wanted]?.values.reduce(0) { $0 + $1.unclaimed } ?? 0 }
        }

        private let state = Locked(State())
        private let unclaimed = Atomic(0)

        /// Whether it pays to look.
        package var isAnyUnclaimed: Bool { unclaimed.load(ordering: .relaxed) > 0 }

        var unclaimedPlaces: [WantedPlace] { state.withLock { state in state.counts.keys.filter { state.unclaimed($0) > 0 } } }

        /// Has the loops know each other; with none, nothing goes over any more.
        func connect(_ loops: [any TransferLoop]) { state.withLock { $0.loops = loops } }

        /// One more waits on a loop.
        func begin(_ wanted: WantedPlace, on number: Int) {
            let isFirst = state.withLock { state in
                defer { change(wanted, on: number, in: &state) { $0.waiting += 1 } }
                return state.unclaimed(wanted) == 0
            }
            if isFirst { show(wanted, after: number, of: number) }
        }

        /// One doesn't wait there any more.
        func end(_ wanted: WantedPlace, on number: Int) {
            state.withLock { change(wanted, on: number, in: &$0) { $0.waiting -= 1 } }
        }

        /// Claims one that waits on another loop, which is to be asked for it.
        func claim(_ wanted: WantedPlace, for loop: any TransferLoop) -> (any TransferLoop)? {
            state.withLock { state in
                let others = state.counts[wanted, default: [:]].filter { number, count in
                    count.unclaimed > 0 && state.loops.indices.contains(number) && state.loops[number] !== loop
                }
                guard let number = others.keys.first else { return nil }
                change(wanted, on: number, in: &state) { $0.claimed += 1 }
                return state.loops[number]
            }
        }

        /// A loop has been asked for one that was claimed.
        func answer(_ wanted: WantedPlace, on number: Int) {
            state.withLock { change(wanted, on: number, in: &$0) { $0.claimed -= 1 } }
        }

        private func change(_ wanted: WantedPlace, on number: Int, in state: inout State, _ change: (inout Count) -> Void) {
            let before = state.unclaimed(wanted)
            var counts = state.counts.removeValue(forKey: wanted) ?? [:]
            change(&counts[number, default: Count()])
            counts = counts.filter { $0.value.waiting > 0 || $0.value.claimed > 0 }
            if !counts.isEmpty { state.counts[wanted] = counts }
            unclaimed.add(state.unclaimed(wanted) - before, ordering: .relaxed)
        }

        /// Has the loop after one look, and the next after that, until all but the first have, or nothing is unclaimed any more.
        private func show(_ wanted: WantedPlace, after number: Int, of first: Int) {
            let next: (loop: any TransferLoop, number: Int)? = state.withLock { state in
                guard state.unclaimed(wanted) > 0, !state.loops.isEmpty else { return nil }
                let next = (number + 1) % state.loops.count
                return next == first ? nil : (state.loops[next], next)
            }
            guard let (loop, number) = next else { return }
            loop.post(
                .run { [self] in
                    loop.takeOver(wanted)
                    show(wanted, after: number, of: first)
                })
        }
    }
#endif
