#if Curl && os(Linux)
    import Glibc
    internal import MidstreamCore

    /// Which thread drives the loop: see ``LoopInbox``.
    extension EventLoop {
        private static let currentKey: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Whether the present thread drives this loop.
        var isCurrent: Bool { pthread_getspecific(Self.currentKey) == Unmanaged.passUnretained(self).toOpaque() }

        func beginDriving() {
            pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
            floods?.begin()
        }

        func endDriving() {
            floods?.end()
            pthread_setspecific(Self.currentKey, nil)
        }

        /// Carries out a transfer on the caller's thread if the loop's rests; false when the transfer is to be posted instead. It may not be
        /// over when this returns: the loop's thread goes on with it then.
        func drive(_ transfer: Transfer) -> Bool {
            guard transfer.options.delivery != .streamed, transfer.bodyExecutor == nil,
                // The thread of a loop would keep its other transfers waiting.
                pthread_getspecific(Self.currentKey) == nil, inbox.enter()
            else { return false }
            beginDriving()
            clock.pointee = MonotonicTime.now()
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
                runTimer()
                settle()
                guard local.isEmpty else { return false }
                guard !active.isEmpty else { return timer == nil && admission.waitingCount == 0 }
                prepareHandles()
                guard inbox.beginWaiting(as: .caller) else { return false }
                sockets.wait(until: wakeTime)
                let mayGoOn = inbox.endWaiting()
                takeEvents()
                guard mayGoOn || active.isEmpty else { return false }
            }
        }

        /// Leaves the loop to callers as long as they come; false when the thread has to watch the sockets.
        func rest() -> Bool {
            guard options.configuration.usesCallersThreads, exchanges.invitesCallers, active.isEmpty, local.isEmpty, timer == nil,
                admission.waitingCount == 0
            else { return false }
            let interval = exchanges.lookInterval
            endDriving()
            inbox.rest(lookingEvery: interval)
            beginDriving()
            clock.pointee = MonotonicTime.now()
            // No caller is invited again before some exchanges have been short.
            exchanges.forget()
            return true
        }
    }

    /// The loop's thread runs Swift tasks between its turns at the sockets.
    extension EventLoop: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // A task must go on somewhere, even when its preferred thread has ended.
            if !post(.job(job)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        }
    }
#endif
