#if os(Linux)
    internal import Interception
    package import MidstreamCore

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    package final class LoopGroup<Loop: EventLoop>: TransportLoops {
        package let loops: [Loop]
        private let turn = Locked(0)

        /// - Parameters:
        ///   - count: How many loops there are to be; from 1 to 64 are made.
        ///   - make: Makes a loop and starts its thread, given the number of them all.
        /// - Throws: What `make` throws; the loops made before are closed then.
        package init(count: Int, _ make: (Int) throws -> Loop) throws {
            let count = Self.allowed(count)
            var loops: [Loop] = []
            do {
                for _ in 0..<count { loops.append(try make(count)) }
            } catch {
                for loop in loops { loop.close() }
                throw error
            }
            self.loops = loops
        }

        deinit { close() }

        package static func allowed(_ wanted: Int) -> Int { min(max(1, wanted), 64) }

        package func close() {
            for loop in loops { loop.close() }
        }

        package func waitForEnd() {
            for loop in loops { loop.waitForEnd() }
        }

        /// The loop that the caller's thread drives, else each in turn.
        package var preferred: Loop {
            if loops.count == 1 { return loops[0] }
            return loops.first { $0.isCurrent } ?? next
        }

        /// What all of them have, asked one after the other.
        package var statistics: TransportStatistics {
            get async {
                var sum = TransportStatistics()
                for loop in loops { sum = await sum + loop.statistics }
                return sum
            }
        }

        /// Each loop in turn.
        package var next: Loop {
            let turn = turn.withLock { turn in
                turn = (turn + 1) % loops.count
                return turn
            }
            return loops[turn]
        }
    }
#endif
