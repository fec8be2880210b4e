#if os(Linux)
    internal import CLinux
    import Glibc
    internal import Interception

    /// The operations that other threads post to an event loop, and which thread carries them out.
    ///
    /// That is the loop's own thread or, while exchanges come one by one and are short, the thread of each caller, which saves two
    /// switches between threads (the leader/followers pattern). All other state of the loop belongs to the thread that drives it, and
    /// changes hands under the lock here.
    final class LoopInbox: Sendable {
        enum Driver {
            /// The loop's thread, or it will be as soon as the caller that drives has left.
            case thread
            /// A caller, until its exchange is over or the thread is called.
            case caller
            /// None: the thread rests, and the next caller may drive.
            case none
        }

        struct State {
            var operations: [LoopOperation] = []
            var driver = Driver.thread
            /// The driver waits for sockets, or is about to, and has to be woken.
            var isWaiting = false
            /// How many times callers have driven.
            var drives = 0
            var isClosing = false
            /// No operation is taken any more.
            var isClosed = false

            fileprivate var isEmpty: Bool { operations.isEmpty && !isClosing }

            /// Makes the loop the thread's, now or when the caller has left.
            fileprivate mutating func callThread() -> Waiter? {
                let wasResting = driver == .none
                driver = .thread
                guard !wasResting else { return .restingThread }
                defer { isWaiting = false }
                return isWaiting ? .driver : nil
            }
        }

        /// What has to be woken.
        fileprivate enum Waiter { case driver, restingThread }

        private let state = Locked(State())
        /// Readable when the driver's wait for sockets is to end.
        let wakeDescriptor = clinux_eventfd()
        /// Readable when the thread's rest is to end.
        private let restDescriptor = clinux_eventfd()
        /// Readable once the thread has ended.
        private let endDescriptor = clinux_eventfd()

        /// False when the system has no descriptor to spare.
        var isUsable: Bool { wakeDescriptor >= 0 && restDescriptor >= 0 && endDescriptor >= 0 }

        deinit {
            for descriptor in [wakeDescriptor, restDescriptor, endDescriptor] where descriptor >= 0 { Glibc.close(descriptor) }
        }

        func withLock<Value>(_ body: (inout State) -> Value) -> Value { state.withLock(body) }

        // MARK: From any thread

        /// False when the loop has ended, and the operation won't be carried out.
        func post(_ operation: LoopOperation) -> Bool {
            var waiter: Waiter?
            let isTaken = state.withLock { state in
                guard !state.isClosed else { return false }
                state.operations.append(operation)
                waiter = state.callThread()
                return true
            }
            wake(waiter)
            return isTaken
        }

        /// Has the thread end.
        func close() {
            wake(
                state.withLock { state in
                    state.isClosing = true
                    return state.callThread()
                })
        }

        private func wake(_ waiter: Waiter?) {
            if let waiter { signal(waiter == .driver ? wakeDescriptor : restDescriptor) }
        }

        private func signal(_ descriptor: Int32) {
            var one: UInt64 = 1
            _ = Glibc.write(descriptor, &one, 8)
        }

        /// Blocks until the thread has ended.
        func waitForEnd() {
            while clinux_wait_readable(endDescriptor, -1) <= 0 {}
        }

        // MARK: From the driver

        /// Whether the driver may wait for sockets: not when there are operations, nor a caller when the thread has been called. From
        /// then on the driver is woken.
        func beginWaiting(as driver: Driver) -> Bool {
            state.withLock { state in
                state.isWaiting = state.isEmpty && state.driver == driver
                return state.isWaiting
            }
        }

        /// Ends the wait of a caller; false when it has to leave.
        func endWaiting() -> Bool {
            state.withLock { state in
                state.isWaiting = false
                return state.driver == .caller
            }
        }

        /// Ends the wait of the thread and swaps the operations for an empty array; false when the loop is to end.
        func take(into batch: inout [LoopOperation]) -> Bool {
            state.withLock { state in
                state.isWaiting = false
                swap(&batch, &state.operations)
                return !state.isClosing
            }
        }

        /// Makes the present thread the driver, while the loop's thread rests; false when it doesn't.
        func enter() -> Bool {
            state.withLock { state in
                guard state.driver == .none else { return false }
                state.driver = .caller
                state.drives += 1
                return true
            }
        }

        /// Leaves the loop to the next caller, or to its thread.
        func leave(toNextCaller mayStayFree: Bool) {
            wake(
                state.withLock { state in
                    let staysFree = mayStayFree && state.driver == .caller
                    state.driver = staysFree ? .none : .thread
                    state.isWaiting = false
                    return staysFree ? nil : .restingThread
                })
        }

        // MARK: From the loop's thread

        /// The thread does nothing more.
        func end() { signal(endDescriptor) }

        /// Leaves the loop to callers, with a look every so many milliseconds; returns when it is the thread's again, at once if there are
        /// operations.
        ///
        /// The loop is called back from a caller that one look finds where the last one did, since a caller that waits holds up a thread of
        /// Swift's pool. It is also taken back when no caller has come between two looks, so that sockets don't stay unwatched.
        func rest(lookingEvery interval: Int32) {
            var seen: Int? = state.withLock { state in
                guard state.isEmpty else { return nil }
                state.driver = .none
                return state.drives
            }
            while seen != nil {
                if clinux_wait_readable(restDescriptor, interval) > 0 {
                    var count: UInt64 = 0
                    _ = read(restDescriptor, &count, 8)
                    return
                }
                var waiter: Waiter?
                seen = state.withLock { state in
                    guard state.drives == seen, state.driver != .thread else { return state.drives }
                    waiter = state.callThread()
                    return waiter == .restingThread ? nil : state.drives
                }
                if waiter == .driver { wake(waiter) }
            }
        }
    }
#endif
