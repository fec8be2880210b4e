#if os(Linux)
    internal import CCurl
    import Dispatch
    import Glibc
    internal import Interception
    import Synchronization

    /// libcurl before 8.1.0 reads HTTP/2 frames that belong to no response for as long as they come faster than it reads them. The loop's
    /// thread is inside libcurl meanwhile: no other transfer moves, and no limit in time is kept.
    ///
    /// So another thread looks at it ten times a second while it is at work, and ends a call that has taken ``mostProcessorTime`` by shutting
    /// down the connection that has received the most during it. The thread's own time counts, so that a slow machine or a debugger
    /// makes no difference.
    ///
    /// `@unchecked Sendable`: `turn` and `isLooking` are atomic, `state` is a lock, and the rest is constant.
    final class FloodWatch: @unchecked Sendable {
        private struct State {
            /// The loop's thread; nil before it runs, and when it has ended.
            var thread: pthread_t?
            /// The sockets that curl has open. They are shut down and closed under the lock, so that no number is taken for another.
            var sockets: Set<Int32> = []
            /// The turn that was seen last.
            var turn: UInt64 = 0
            /// How things stood when it was first seen to last.
            var beginning: Beginning?
            /// How often nothing had happened between two looks.
            var quietLooks = 0
        }

        private struct Beginning {
            var processorTime: UInt64
            var received: [Int32: UInt64]
        }

        static let isNeeded = ccurl_version() < 0x08_01_00

        private static let interval = DispatchTimeInterval.milliseconds(100)
        /// Far more than any other call takes, in nanoseconds.
        private static let mostProcessorTime: UInt64 = 400_000_000
        /// What a connection brings at least in a call that its frames have prolonged, in bytes; curl never takes as much for a
        /// transfer that waits for its reader.
        private static let leastFlood: UInt64 = 4 << 20
        private static let queue = DispatchQueue(label: "midstream.flood-watch")

        private let state = Locked(State())
        /// Odd while the thread is inside curl; written by that thread alone.
        private let turn = Atomic<UInt64>(0)
        private let isLooking = Atomic<Bool>(false)

        // MARK: On the loop's thread

        func begin() { state.withLock { $0.thread = pthread_self() } }

        func end() { state.withLock { $0.thread = nil } }

        func opened(_ descriptor: Int32) { state.withLock { _ = $0.sockets.insert(descriptor) } }

        func close(_ descriptor: Int32) -> Int32 {
            state.withLock { state in
                state.sockets.remove(descriptor)
                return Glibc.close(descriptor)
            }
        }

        /// Calls into curl.
        func watch(_ call: () -> Void) {
            let number = turn.load(ordering: .relaxed)
            turn.store(number &+ 1, ordering: .relaxed)
            if !isLooking.load(ordering: .relaxed) { beginLooking() }
            call()
            turn.store(number &+ 2, ordering: .relaxed)
        }

        private func beginLooking() {
            guard !isLooking.exchange(true, ordering: .relaxed) else { return }
            lookSoon()
        }

        // MARK: On the queue

        private func lookSoon() {
            Self.queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in self?.look() }
        }

        private func look() {
            let isQuiet = state.withLock { state in
                guard let thread = state.thread else { return true }
                let turn = turn.load(ordering: .relaxed)
                guard turn == state.turn else {
                    state.turn = turn
                    state.beginning = nil
                    state.quietLooks = 0
                    return false
                }
                guard turn % 2 == 1 else {
                    state.quietLooks += 1
                    return state.quietLooks > 10
                }
                Self.judge(&state, thread)
                return false
            }
            guard isQuiet else { return lookSoon() }
            // The next call into curl begins it again, and it may have come already without seeing that it ends.
            isLooking.store(false, ordering: .sequentiallyConsistent)
            let last = state.withLock { state in
                state.quietLooks = 0
                return state.turn
            }
            if turn.load(ordering: .sequentiallyConsistent) != last { beginLooking() }
        }

        /// Looks at a call that lasts.
        private static func judge(_ state: inout State, _ thread: pthread_t) {
            let time = ccurl_thread_time(thread)
            let received = Dictionary(uniqueKeysWithValues: state.sockets.map { ($0, ccurl_received($0)) })
            guard let beginning = state.beginning else {
                state.beginning = Beginning(processorTime: time, received: received)
                return
            }
            guard time >= beginning.processorTime + mostProcessorTime else { return }
            let growth = received.map { descriptor, bytes in
                (descriptor: descriptor, bytes: bytes - min(bytes, beginning.received[descriptor] ?? 0))
            }
            guard let most = growth.max(by: { $0.bytes < $1.bytes }), most.bytes >= leastFlood else { return }
            shutdown(most.descriptor, Int32(SHUT_RDWR))
            state.beginning = nil
        }
    }
#endif
