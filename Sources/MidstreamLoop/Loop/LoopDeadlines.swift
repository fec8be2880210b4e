#if os(Linux)
    /// Transfers that take too long are ended.
    extension EventLoop {
        /// As many sockets as may have no transfer. Each of them is told of once, since what comes on it ends its use.
        private static let mostUnused = 4_096
        /// How long nobody looks again, for each transfer that has been looked at, in nanoseconds: about ten times as long as that takes.
        private static let pauseForEach: UInt64 = 2_000

        package final func expectDeadline(of transfer: Transfer) {
            assert(isCurrent)
            // One that has waited for its place has little time left, and so has the next one.
            let due = max(soonestDeadlineCheck, min(transfer.timeLimit, transfer.deadline() ?? .max))
            nextDeadlineCheck = min(nextDeadlineCheck, due)
        }

        final var allTransfers: [Transfer] { admission.waitingCount > 0 ? active + admission.waiting : active }

        /// Ends the transfers that have taken too long. Their earliest deadline decides when to look again.
        final func checkDeadlines() {
            guard nextDeadlineCheck <= now else { return }
            told += poller.readyCount
            // Where the loop has stood still, what a transfer seems to lack may have come on a socket of which no wait has told yet. They
            // tell of all by turns, which makes an end of this even where there are always more.
            let haveToldOfAll = !poller.isFull || told >= active.count + Self.mostUnused
            var (next, nextLimit) = (UInt64.max, UInt64.max)
            var late: [Transfer] = []
            let transfers = allTransfers
            for transfer in transfers {
                let due = transfer.deadline() ?? .max
                if transfer.timeLimit <= now || (haveToldOfAll && due <= now) {
                    late.append(transfer)
                    continue
                }
                next = min(next, due)
                nextLimit = min(nextLimit, transfer.timeLimit)
            }
            if haveToldOfAll || next > now { told = 0 }
            // Not for every transfer by itself: one look serves all that come due in the meantime. The limit of an exchange is its caller's
            // and is kept to the millisecond, unless to look at all that wait would take much of the loop's time.
            let pause = max(1_000_000, UInt64(transfers.count) * Self.pauseForEach)
            soonestDeadlineCheck = now + pause
            nextDeadlineCheck = min(
                next == .max ? .max : max(next, haveToldOfAll ? now + max(limits.grain, pause) : now),
                nextLimit == .max ? .max : max(nextLimit, soonestDeadlineCheck))
            // Those that wait first: the place of one that ends would be given to them.
            for transfer in late.reversed() { endLate(transfer, transfer.timeoutError()) }
        }

        /// Ends a transfer that has taken too long, and the use of its connection for others.
        final func endLate(_ transfer: Transfer, _ error: @autoclosure () -> any Error) {
            distrustConnection(of: transfer)
            abort(transfer, error())
        }
    }
#endif
