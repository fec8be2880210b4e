#if os(Linux)
    internal import Interception
    package import MidstreamCore
    package import MidstreamTransport

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    package final class LoopGroup<Loop: EventLoop>: Sendable {
        package let loops: [Loop]
        /// One more, for what the others mustn't have.
        private let extra = Locked((loop: Loop?.none, isClosed: false))
        private let turn = Locked(0)
        private let counts: WaitingCounts?

        /// - Parameter make: Makes a loop and starts its thread, given its part of the limits.
        /// - Throws: What `make` throws; the loops made before are closed then.
        package init(_ configuration: TransportConfiguration, _ make: (LoopShare) throws -> Loop) throws {
            let count = LoopShare.count(configuration)
            var loops: [Loop] = []
            counts = count > 1 ? WaitingCounts() : nil
            do {
                for place in 0..<count { loops.append(try make(LoopShare(place: place, count: count, counts: counts))) }
            } catch {
                for loop in loops { loop.close() }
                throw error
            }
            self.loops = loops
            counts?.connect(loops)
        }

        deinit { close() }

        private var all: [Loop] { loops + (extra.withLock { $0.loop }.map { [$0] } ?? []) }

        /// Has the threads end; harmless when repeated.
        package func close() {
            extra.withLock { $0.isClosed = true }
            counts?.connect([])
            for loop in all { loop.close() }
        }

        /// Blocks until they have; see ``EventLoop/waitForEnd()``.
        package func waitForEnd() {
            for loop in all { loop.waitForEnd() }
        }

        /// The loop beside the others, started when it is first asked for.
        ///
        /// - Throws: What `make` throws; ``HTTPError`` after ``close()``.
        package func beside(_ make: () throws -> Loop) throws -> Loop {
            try extra.withLock { extra in
                if let loop = extra.loop { return loop }
                guard !extra.isClosed else { throw HTTPError.transportClosed }
                let loop = try make()
                extra.loop = loop
                return loop
            }
        }

        /// The loop that the caller's thread drives unless requests wait there, else the one with the fewest, since limits are divided among the
        /// loops. Among equals the first: requests that come one after the other find the connection of the one before.
        package var preferred: Loop {
            if loops.count == 1 { return loops[0] }
            if let own = loops.first(where: \.isCurrent), own.admission.waitingCount == 0 { return own }
            var emptiest = loops[0]
            for loop in loops.dropFirst() where loop.load < emptiest.load { emptiest = loop }
            emptiest.expectOneMore()
            return emptiest
        }

        /// What all of them have, asked one after the other.
        package var statistics: TransportStatistics {
            get async {
                var sum = TransportStatistics()
                for loop in all { sum = await sum + loop.statistics }
                return sum
            }
        }

        /// Each loop in turn.
        package var next: Loop {
            turn.withLock { turn in
                turn = (turn + 1) % loops.count
                return loops[turn]
            }
        }
    }
#endif
