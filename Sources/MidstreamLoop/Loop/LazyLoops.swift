#if os(Linux)
    internal import Interception
    package import MidstreamCore

    /// Of ``LazyLoops``. Not in it, since a generic type's own have to be looked up by the runtime with every request.
    private enum State {
        case unused
        case running(any AnyObject & Sendable)
        case closed
    }

    /// A transport's loops, which are made with its first request and never again once it is closed.
    package final class LazyLoops<Loop: EventLoop>: Sendable {
        private let state = Locked(State.unused)
        private let make: @Sendable () throws -> LoopGroup<Loop>

        package init(_ make: @escaping @Sendable () throws -> LoopGroup<Loop>) { self.make = make }

        /// The loops.
        ///
        /// - Throws: What making them throws; ``HTTPError`` after ``close()``.
        package func get() throws -> LoopGroup<Loop> {
            try state.withLock { state in
                switch state {
                // Nothing else is made.
                case .running(let loops): return unsafeDowncast(loops, to: LoopGroup<Loop>.self)
                case .closed: throw HTTPError.transportClosed
                case .unused:
                    let loops = try make()
                    state = .running(loops)
                    return loops
                }
            }
        }

        package var statistics: TransportStatistics {
            get async {
                let loops = state.withLock { Self.running($0) }
                return await loops?.statistics ?? TransportStatistics()
            }
        }

        /// Ends the loops, and waits for their threads; harmless when repeated.
        package func close() {
            let loops = state.withLock { state in
                defer { state = .closed }
                return Self.running(state)
            }
            loops?.close()
            loops?.waitForEnd()
        }

        private static func running(_ state: State) -> LoopGroup<Loop>? {
            if case .running(let loops) = state { unsafeDowncast(loops, to: LoopGroup<Loop>.self) } else { nil }
        }
    }
#endif
