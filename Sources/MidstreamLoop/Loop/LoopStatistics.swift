#if os(Linux)
    package import MidstreamCore
    import Synchronization

    extension EventLoop {
        /// About how many transfers it has; asked on any thread.
        final var load: Int { shownLoad.load(ordering: .relaxed) }

        /// A transfer will be posted, of which the loop's thread doesn't know yet.
        final func expectOneMore() { shownLoad.add(1, ordering: .relaxed) }

        final func showLoad() { shownLoad.store(active.count + admission.waitingCount, ordering: .relaxed) }

        /// What it has.
        package final var statistics: TransportStatistics {
            get async {
                await withCheckedContinuation { continuation in
                    ask { [self] isOver in continuation.resume(returning: isOver ? TransportStatistics() : measure()) }
                }
            }
        }

        private func measure() -> TransportStatistics {
            assert(isCurrent)
            var statistics = TransportStatistics()
            for transfer in active { statistics.count(\.activeRequests, transfer.origin) }
            for transfer in admission.waiting { statistics.count(\.waitingRequests, transfer.origin) }
            countConnections(in: &statistics)
            return statistics
        }
    }
#endif
