#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// Whether callers send one request after the other to a server that answers at once, so that each may drive its own exchange.
    ///
    /// Touched only on the loop's thread.
    struct LoneExchanges {
        /// What a server nearby needs at most, in nanoseconds.
        var atOnce: UInt64 = 1_000_000
        /// How often the resting thread looks whether callers still come, and whether one of them is held up, in milliseconds. Until
        /// then nobody watches kept connections; they are looked at before they are used.
        ///
        /// A timer of the caller's own would be exact, but to set it may cost more than what driving saves.
        var restTime: Int32 = 10
        private static let fewest = 2
        private static let most = 1024

        private var current: (transfer: ObjectIdentifier, start: UInt64)?
        /// How many there were, one after the other.
        private var count = 0
        /// How many there have to be: more, after callers have waited in vain.
        private var needed = fewest
        /// How many exchanges were driven by their callers to the end: what the tests look at.
        private(set) var driven = 0

        /// Whether the next caller may drive.
        var invitesCallers: Bool { count >= needed }

        mutating func begin(_ transfer: Transfer, isAlone: Bool, at now: UInt64) {
            current = isAlone ? (ObjectIdentifier(transfer), now) : nil
            if !isAlone { count = 0 }
        }

        /// Notes that an exchange has ended as it should.
        mutating func end(_ transfer: Transfer, at now: UInt64) {
            guard let (lone, start) = current, lone == ObjectIdentifier(transfer), now - start <= atOnce else {
                return count = 0
            }
            count = min(count + 1, Self.most)
        }

        /// Notes how it went when a caller drove.
        mutating func wasDriven(toEnd isOver: Bool) {
            if isOver {
                driven += 1
                needed = Self.fewest
            } else {
                count = 0
                needed = min(needed * 2, Self.most)
            }
        }

        mutating func forget() { count = 0 }
    }

    /// An exchange that is driven by its caller's own thread: two switches between threads less.
    extension EventLoop {
        // MARK: The caller's side

        /// Sends a request and receives its response as long as nobody else wants anything of the loop, and as long as the thread
        /// that rests meanwhile doesn't find that it takes too long.
        ///
        /// - Returns: False when the request is to be posted instead. Otherwise it has been begun, and may be over.
        func drive(_ transfer: Transfer) -> Bool {
            // A loop's thread would keep its other transfers waiting.
            guard transfer.options.delivery != .streamed, transfer.bodyExecutor == nil, !Self.isDriving, takePlace() else {
                return false
            }
            let signals = mayUseTLS || transfer.isSecure ? BrokenPipe.block() : nil
            beginDriving()
            clock.pointee = MonotonicTime.now()
            start(transfer)
            let isOver = driveOn()
            lone.wasDriven(toEnd: isOver)
            let isFree = isOver && lone.invitesCallers
            endDriving()
            signals?.restore()
            leavePlace(isFree: isFree)
            return true
        }

        private func takePlace() -> Bool {
            inbox.withLock { inbox in
                guard case .none = inbox.driver, inbox.isEmpty else { return false }
                inbox.driver = .working
                inbox.isDriven = true
                inbox.drives += 1
                return true
            }
        }

        /// True when the exchange is over and nothing else is left to be done.
        private func driveOn() -> Bool {
            while true {
                runTimer()
                settle()
                guard local.isEmpty else { return false }
                guard !active.isEmpty else { return timer == nil && admission.waitingCount == 0 }
                prepareHandles()
                // From here on, whoever comes wakes this thread.
                let time = wakeTime()
                guard time != 0 else { return false }
                sockets.wait(until: time)
                let mayGoOn = inbox.withLock { inbox in
                    inbox.driver = .working
                    return inbox.isEmpty && !inbox.isOverdue
                }
                takeEvents()
                guard mayGoOn || active.isEmpty else { return false }
            }
        }

        /// Leaves the loop to the next caller, or to its own thread.
        private func leavePlace(isFree: Bool) {
            let isFree = inbox.withLock { inbox in
                inbox.isDriven = false
                inbox.isOverdue = false
                guard isFree, inbox.isEmpty else { return false }
                inbox.driver = .none
                return true
            }
            if !isFree { Self.write(to: restDescriptor) }
        }

        // MARK: The thread's side

        /// Rests as long as callers drive the loop. False when it had better wait for the sockets itself.
        func restsInstead() -> Bool {
            guard lone.invitesCallers, active.isEmpty, local.isEmpty, timer == nil, admission.waitingCount == 0 else {
                return false
            }
            let time = lone.restTime
            endDriving()
            let mayRest = inbox.withLock { inbox in
                guard inbox.isEmpty else { return false }
                inbox.driver = .none
                return true
            }
            if mayRest { rest(lookingEach: time) }
            beginDriving()
            clock.pointee = MonotonicTime.now()
            // When nobody comes any more, the sockets are watched until some have come again.
            lone.forget()
            return true
        }

        /// Returns when the loop is this thread's again.
        private func rest(lookingEach time: Int32) {
            var seen = inbox.withLock { $0.drives }
            while true {
                if ccurl_wait_readable(restDescriptor, time) > 0 {
                    var count: UInt64 = 0
                    // Whoever has written has left the loop to this thread.
                    if read(restDescriptor, &count, 8) == 8 { return }
                }
                let (isBack, isOverdue) = inbox.withLock { inbox in
                    defer { seen = inbox.drives }
                    guard inbox.drives == seen else { return (false, false) }
                    // None has come since the last look, or it is still the same.
                    if case .none = inbox.driver {
                        inbox.driver = .working
                        return (true, false)
                    }
                    inbox.isOverdue = true
                    return (false, true)
                }
                if isBack { return }
                if isOverdue { Self.write(to: wakeDescriptor) }
            }
        }
    }

    /// Keeps SIGPIPE, which a TLS library may raise by writing to a connection that is gone, from a thread that isn't the loop's.
    private struct BrokenPipe {
        private var state = ccurl_signal_state()

        static func block() -> BrokenPipe {
            var pipe = BrokenPipe()
            ccurl_hold_broken_pipe_signal(&pipe.state)
            return pipe
        }

        func restore() {
            var state = state
            ccurl_release_broken_pipe_signal(&state)
        }
    }
#endif
