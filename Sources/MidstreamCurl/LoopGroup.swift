#if Curl && os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// A transport's loops. They end with the last reference to the group: the transport's, or that of a response still arriving.
    final class LoopGroup: Sendable {
        private let loops: [EventLoop]
        private let turn = Locked(0)

        init(_ configuration: CurlTransport.Configuration) throws {
            let options = ConnectionOptions(configuration)
            let count = max(1, configuration.eventLoops)
            var loops: [EventLoop] = []
            do {
                for _ in 0..<count { loops.append(try EventLoop(options: options, share: count)) }
            } catch {
                for loop in loops { loop.close() }
                throw error
            }
            self.loops = loops
        }

        deinit { close() }

        func close() {
            for loop in loops { loop.close() }
        }

        /// The loop whose thread the caller is on, else each in turn.
        var preferred: EventLoop {
            if loops.count == 1 { return loops[0] }
            return loops.first { $0.isCurrent } ?? next
        }

        /// Each loop in turn.
        var next: EventLoop {
            let turn = turn.withLock { turn in
                turn = (turn + 1) % loops.count
                return turn
            }
            return loops[turn]
        }
    }
#endif
