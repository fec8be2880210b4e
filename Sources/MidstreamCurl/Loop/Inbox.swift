#if Curl && os(Linux)
    import Glibc
    internal import Interception

    /// What other threads ask of a loop, and who looks at it.
    struct Inbox {
        /// What whoever drives the loop is about.
        enum Driver {
            /// At work; looks here before it waits.
            case working
            /// Waiting for the sockets, or about to, and has to be woken.
            case waiting
            /// There is none: the thread rests, and has to be woken unless a caller takes its place.
            case none
        }

        var operations: [LoopOperation] = []
        var driver = Driver.working
        /// A caller has taken the thread's place.
        var isDriven = false
        /// How many callers have taken the thread's place so far.
        var drives = 0
        /// The caller who drives is to leave the rest to the thread.
        var isOverdue = false
        var isClosing = false
        /// Nothing is taken any more.
        var isClosed = false

        /// Whether there is something for the driver to do.
        var isEmpty: Bool { operations.isEmpty && !isClosing }

        /// Has the driver look, unless it will by itself; tells whom to wake for that.
        fileprivate mutating func call() -> Driver {
            defer { driver = .working }
            return driver
        }
    }

    // MARK: From any thread
    extension EventLoop {
        private static let currentKey: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Whether the caller drives this loop.
        var isCurrent: Bool { pthread_getspecific(Self.currentKey) == Unmanaged.passUnretained(self).toOpaque() }

        /// Whether the caller drives a loop, this one or another.
        static var isDriving: Bool { pthread_getspecific(currentKey) != nil }

        /// Has the loop do something. False when it has ended, and won't.
        @discardableResult
        func post(_ operation: LoopOperation) -> Bool {
            if isCurrent {
                local.append(operation)
                return true
            }
            var isTaken = false
            let driver = inbox.withLock { inbox in
                guard !inbox.isClosed else { return Inbox.Driver.working }
                isTaken = true
                inbox.operations.append(operation)
                return inbox.call()
            }
            wake(driver)
            return isTaken
        }

        /// Ends the thread soon; the transfers that it drives fail.
        func close() {
            let driver = inbox.withLock { inbox in
                inbox.isClosing = true
                return inbox.call()
            }
            wake(driver)
        }

        /// One wake-up is enough for any number of operations.
        private func wake(_ driver: Inbox.Driver) {
            switch driver {
            case .working: break
            case .waiting: Self.write(to: wakeDescriptor)
            case .none: Self.write(to: restDescriptor)
            }
        }

        static func write(to descriptor: Int32) {
            var one: UInt64 = 1
            _ = Glibc.write(descriptor, &one, 8)
        }
    }

    // MARK: On the loop's thread
    extension EventLoop {
        /// Makes the present thread the one that drives the loop.
        func beginDriving() {
            pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
            floods?.begin()
        }

        func endDriving() {
            floods?.end()
            pthread_setspecific(Self.currentKey, nil)
        }

        /// Swaps the inbox for an empty one. False when the loop is to end.
        func takeInbox() -> Bool {
            inbox.withLock { inbox in
                inbox.driver = .working
                swap(&batch, &inbox.operations)
                return !inbox.isClosing
            }
        }

        /// When to stop waiting for sockets: nil, not before one is ready.
        func wakeTime() -> UInt64? {
            guard local.isEmpty else { return 0 }
            let isIdle = inbox.withLock { inbox in
                guard inbox.isEmpty else { return false }
                inbox.driver = .waiting
                return true
            }
            guard isIdle else { return 0 }
            let time = min(timer ?? .max, nextDeadlineCheck)
            return time == .max ? nil : time
        }
    }
#endif
