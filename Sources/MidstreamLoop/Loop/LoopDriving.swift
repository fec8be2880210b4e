#if os(Linux)
    import Glibc
    package import Interception
    internal import MidstreamCore

    /// Which thread drives the loop: see ``LoopInbox``.
    extension EventLoop {
        private static let currentKey: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Whether the present thread drives this loop.
        package final var isCurrent: Bool {
            pthread_getspecific(Self.currentKey) == Unmanaged.passUnretained(self).toOpaque()
        }

        /// Whether the present thread drives any loop.
        static var isAnyCurrent: Bool { pthread_getspecific(currentKey) != nil }

        final func beginDriving() {
            pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
            // Nobody has watched the sockets meanwhile: what came on any of them is still to be told.
            lastWholeWait = -1
            willDrive()
        }

        final func endDriving() {
            didDrive()
            pthread_setspecific(Self.currentKey, nil)
        }

        /// Carries out a transfer on the caller's thread if the loop's rests; false when the transfer is to be posted instead. It may not be
        /// over when this returns: the loop's thread goes on with it then.
        package final func drive(_ transfer: Transfer) -> Bool {
            guard transfer.options.delivery != .streamed, transfer.bodyExecutor == nil,
                // The thread of a loop would keep its other transfers waiting.
                !Self.isAnyCurrent, inbox.enter()
            else { return false }
            beginDriving()
            clock.pointee = MonotonicTime.now()
            // The machine may have slept while the thread rested: what has been idle for too long since isn't used.
            runTimers()
            start(transfer)
            let isOver = driveOn()
            exchanges.wasDriven(toEnd: isOver)
            let staysFree = isOver && exchanges.invitesCallers
            endDriving()
            inbox.leave(toNextCaller: staysFree)
            return true
        }

        /// True when the exchange is over and nothing else is left to be done.
        private func driveOn() -> Bool {
            while true {
                runTimers()
                settle()
                tellEnds()
                guard local.isEmpty else { return false }
                guard !active.isEmpty else { return mayRest && admission.waitingCount == 0 }
                tidy()
                guard inbox.beginWaiting(as: .caller) else { return false }
                poller.wait(until: wakeTime)
                let mayGoOn = inbox.endWaiting()
                takeEvents()
                guard mayGoOn || active.isEmpty else { return false }
            }
        }

        /// Leaves the loop to callers as long as they come; false when the thread has to watch the sockets.
        final func rest() -> Bool {
            guard usesCallersThreads, exchanges.invitesCallers, active.isEmpty, local.isEmpty, mayRest,
                admission.waitingCount == 0
            else { return false }
            let interval = exchanges.lookInterval
            endDriving()
            inbox.rest(lookingEvery: interval)
            beginDriving()
            clock.pointee = MonotonicTime.now()
            runTimers()
            // No caller is invited again before some exchanges have been short.
            exchanges.forget()
            return true
        }
    }

    /// The loop's thread runs Swift tasks between its turns at the sockets.
    extension EventLoop: TaskExecutor {
        /// How long a job may keep the loop from its sockets before what they have told is out of date, and the loop's time with it; in
        /// nanoseconds: 1 ms. A shorter one leaves no more to chance than a network does.
        private static let longJob: UInt64 = 1_000_000

        package final var executor: CallersExecutor { CallersExecutor(self) }

        final func run(_ job: UnownedJob) {
            let began = MonotonicTime.now()
            job.runSynchronously(on: asUnownedTaskExecutor())
            let end = MonotonicTime.now()
            guard end - began > Self.longJob else { return }
            lastWholeWait = -1
            // What the job wants sent begins now, and so does what it has limits for.
            clock.pointee = end
        }

        /// Runs a job on the loop's thread, or elsewhere once that has ended: a task must go on somewhere.
        public final func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if !post(.job(job)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        }
    }
#endif
