#if os(Linux)
    internal import Interception
    package import MidstreamCore

    /// The loops of a transport.
    package protocol TransportLoops: AnyObject, Sendable {
        /// Has the threads end; harmless when repeated.
        func close()
        /// Blocks until they have; see ``EventLoop/waitForEnd()``.
        func waitForEnd()
        /// What all of them have, asked one after the other.
        var statistics: TransportStatistics { get async }
    }

    /// Of ``LazyLoops``. Not in it, since a generic type's own have to be looked up by the runtime with every request.
    private enum State {
        case unused
        case running(any TransportLoops)
        case closed
    }

    /// A transport's loops, which are made with its first request and never again once it is closed.
    package final class LazyLoops<Loops: TransportLoops>: Sendable {
        private let state = Locked(State.unused)
        private let make: @Sendable () throws -> Loops

        package init(_ make: @escaping @Sendable () throws -> Loops) { self.make = make }

        /// The loops.
        ///
        /// - Throws: What making them throws; ``HTTPError`` after ``close()``.
        package func get() throws -> Loops {
            try state.withLock { state in
                switch state {
                // Nothing else is made.
                case .running(let loops): return unsafeDowncast(loops, to: Loops.self)
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
                let loops: (any TransportLoops)? = state.withLock { if case .running(let loops) = $0 { loops } else { nil } }
                return await loops?.statistics ?? TransportStatistics()
            }
        }

        /// Ends the loops, and waits for their threads; harmless when repeated.
        package func close() {
            let loops = state.withLock { state -> (any TransportLoops)? in
                defer { state = .closed }
                guard case .running(let loops) = state else { return nil }
                return loops
            }
            loops?.close()
            loops?.waitForEnd()
        }
    }
#endif
