#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// A thread that drives transfers through one of curl's multi handles, and can run Swift tasks besides.
    ///
    /// Other threads post operations to its inbox, which keeps their order: a start always comes before its cancellation. While the
    /// thread rests, a caller may take its place for an exchange (``drive(_:)``).
    ///
    /// `@unchecked Sendable`: `inbox` and `options` are constant, and everything else is touched only by the thread that drives the loop
    /// (``isCurrent``), which changes under the inbox's lock. "On the loop's thread" means that one.
    final class EventLoop: TransferLoop, @unchecked Sendable {
        let options: ConnectionOptions
        let inbox = LoopInbox<LoopOperation>()

        // Touched only on the loop's thread.
        let multi: UnsafeMutableRawPointer
        var sockets: SocketWatch
        /// When curl wants to be called, in nanoseconds of the monotonic clock; nil when it doesn't.
        var timer: UInt64?
        /// Transfers with something to do after the calls into curl: it can't be done inside them.
        private var unsettled: [Transfer] = []
        private(set) var active: [Transfer] = []
        /// What the loop's own thread has posted.
        var local: [LoopOperation] = []
        var batch: [LoopOperation] = []
        private var handles = HandlePool()
        var nextDeadlineCheck: UInt64 = .max
        let decoding = DecodingRoom()
        /// Nil where nothing has to be watched.
        let floods: FloodWatch?
        var admission: Admission
        let clock = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        /// How many connections curl may keep.
        private var keptConnections = 1024
        var exchanges = ShortExchanges()

        /// Starts the thread.
        ///
        /// - Parameter sharesConnections: Whether several requests at a time may use an HTTP/2 connection.
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        init(options: ConnectionOptions, share: Int, sharesConnections: Bool = true) throws {
            self.options = options
            clock.initialize(to: MonotonicTime.now())
            let epoll = ccurl_epoll()
            guard inbox.isUsable, epoll >= 0, let multi = curl_multi_init() else {
                let error = HTTPError.noResources(errno)
                if epoll >= 0 { Glibc.close(epoll) }
                clock.deallocate()
                throw error
            }
            self.multi = multi
            sockets = SocketWatch(epoll: epoll)
            let limits = options.configuration
            let hostLimit = limits.maximumConnectionsPerHost.map { max(1, $0 / share) } ?? 0
            let totalLimit = limits.maximumConnections.map { max(1, $0 / share) } ?? 0
            admission = Admission(hostLimit: hostLimit, totalLimit: totalLimit)
            floods = FloodWatch.isNeeded && limits.httpVersions != .http1Only ? FloodWatch() : nil
            // Edge-triggered: reported once for each write, so that it needn't be read.
            _ = ccurl_epoll_control(epoll, EPOLL_CTL_ADD, inbox.wakeDescriptor, EPOLLIN.rawValue | EPOLLET.rawValue)
            SocketCallbacks.install(on: multi, loop: self)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, hostLimit)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, totalLimit)
            if totalLimit > 0 { keptConnections = totalLimit }
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, keptConnections)
            if !sharesConnections { _ = ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING)) }

            var thread = pthread_t()
            let context = Unmanaged.passRetained(self)
            let status = pthread_create(&thread, nil, { EventLoop.threadMain($0) }, context.toOpaque())
            guard status == 0 else {
                context.release()
                tearDown()
                throw HTTPError.noResources(status)
            }
            pthread_detach(thread)
            ResourceWitness.tell(of: self)
        }

        deinit { clock.deallocate() }

        // MARK: From any thread

        @discardableResult
        func post(_ operation: LoopOperation) -> Bool {
            guard isCurrent else { return inbox.post(operation) }
            local.append(operation)
            return true
        }

        /// Ends the thread soon; the transfers that it drives fail.
        func close() { inbox.close() }

        // MARK: On the loop's thread

        private static func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let loop = Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
            ccurl_name_thread("midstream-curl")
            loop.beginDriving()
            loop.run()
            loop.endDriving()
            return nil
        }

        private func run() {
            while inbox.take(into: &batch) {
                decoding.beginTurn()
                perform()
                runTimer()
                settle()
                prepareHandles()
                guard !rest() else { continue }
                let mayWait = local.isEmpty && inbox.beginWaiting(as: .thread)
                sockets.wait(until: mayWait ? wakeTime : 0)
                takeEvents()
            }
            end()
        }

        /// When to stop waiting for sockets; `.max`: not before one is ready.
        var wakeTime: UInt64 { min(timer ?? .max, nextDeadlineCheck) }

        /// Acts on what the last wait has brought.
        func takeEvents() {
            assert(isCurrent)
            clock.pointee = MonotonicTime.now()
            // By place: what curl does about one socket changes how others are watched.
            for place in 0..<sockets.readyCount {
                let (descriptor, mask) = sockets.event(at: place)
                if descriptor != inbox.wakeDescriptor, mask != 0 { act(descriptor, mask) }
            }
            runTimer()
            settle()
            checkDeadlines()
        }

        private func perform() {
            for operation in batch { perform(operation) }
            batch.removeAll(keepingCapacity: true)
            // What these add waits until the sockets have had their turn.
            guard !local.isEmpty else { return }
            swap(&batch, &local)
            for operation in batch { perform(operation) }
            batch.removeAll(keepingCapacity: true)
        }

        private func perform(_ operation: LoopOperation) {
            switch operation {
            case .start(let transfer): start(transfer)
            case .cancel(let transfer): abort(transfer, CancellationError())
            case .resumeReceiving(let transfer): transfer.resumeReceiving()
            case .resumeSending(let transfer): transfer.resumeSending()
            case .fail(let transfer, let error): abort(transfer, error)
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }

        func runTimer() {
            // Bounded, so that a state of curl's that always wants to go on can't lock out the sockets.
            for _ in 0..<8 {
                guard let due = timer, due == 0 || due <= MonotonicTime.now() else { return }
                timer = nil
                act(CURL_SOCKET_TIMEOUT, 0)
            }
        }

        private func act(_ descriptor: Int32, _ mask: Int32) {
            assert(isCurrent)
            var running: Int32 = 0
            guard let floods else {
                curl_multi_socket_action(multi, descriptor, mask, &running)
                return
            }
            floods.watch { curl_multi_socket_action(multi, descriptor, mask, &running) }
        }

        /// Does what had to wait until curl was left: ends finished transfers and wakes readers.
        func settle() {
            assert(isCurrent)
            repeat {
                var waiting: Int32 = 0
                while let message = curl_multi_info_read(multi, &waiting) {
                    guard message.pointee.msg == CURLMSG_DONE, let curl = message.pointee.easy_handle,
                        let context = ccurl_info_private(curl)
                    else { continue }
                    let code = message.pointee.data.result
                    let handle = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
                    if let transfer = handle.transfer { finish(transfer, code) }
                }
                guard !unsettled.isEmpty else { return }
                let transfers = unsettled
                unsettled.removeAll(keepingCapacity: true)
                for transfer in transfers {
                    transfer.isUnsettled = false
                    if transfer.settle() { finish(transfer, CURLE_OK) }
                }
            } while !unsettled.isEmpty
        }

        func start(_ transfer: Transfer) {
            assert(isCurrent)
            guard !transfer.isGivenUp else { return refuse(transfer, CancellationError()) }
            guard admission.enter(transfer) else {
                transfer.beginWaiting()
                return expectDeadline(of: transfer)
            }
            guard let handle = handles.take() else { return refuse(transfer, HTTPError.noResources(ENOMEM)) }
            do {
                try transfer.prepare(handle)
            } catch {
                handles.give(back: handle, isClean: false)
                return refuse(transfer, error)
            }
            handle.transfer = transfer
            transfer.begin(with: handle, place: active.count)
            exchanges.begin(isAlone: active.isEmpty, at: now)
            active.append(transfer)
            if active.count > keptConnections, options.configuration.maximumConnections == nil { keepMoreConnections() }
            let code = curl_multi_add_handle(multi, handle.curl)
            guard code == CURLM_OK else {
                return abort(transfer, HTTPError(.connection, String(cString: curl_multi_strerror(code)), phase: .notSent))
            }
            expectDeadline(of: transfer)
        }

        /// Where there is no limit of their number, curl keeps as many as have been used at a time: otherwise each of the rest would be
        /// closed after a request, and another be opened for the next.
        private func keepMoreConnections() {
            keptConnections *= 2
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, keptConnections)
        }

        /// Makes used handles ready, once the responses have been delivered.
        func prepareHandles() { handles.renewSpent { setUp($0, for: $1) } }

        /// Ends a transfer that curl has never seen.
        private func refuse(_ transfer: Transfer, _ error: any Error) {
            startSoon(admission.leave(transfer))
            transfer.fail(error)
        }

        func settleLater(_ transfer: Transfer) {
            assert(isCurrent)
            unsettled.append(transfer)
        }

        func expectDeadline(of transfer: Transfer) {
            assert(isCurrent)
            if let due = transfer.deadline() { nextDeadlineCheck = min(nextDeadlineCheck, due) }
        }

        /// Ends a transfer that curl has ended, or that is as good as ended.
        private func finish(_ transfer: Transfer, _ code: CURLcode) {
            guard let handle = transfer.handle else { return }
            let outcome = Result { try transfer.outcome(code, handle) }
            release(transfer, handle, isClean: code == CURLE_OK)
            exchanges.end(at: now)
            transfer.complete(outcome)
        }

        /// Ends a transfer before its time.
        func abort(_ transfer: Transfer, _ error: any Error) {
            assert(isCurrent)
            transfer.isGivenUp = true
            if admission.giveUp(transfer) { return transfer.fail(error) }
            guard let handle = transfer.handle else { return }
            release(transfer, handle, isClean: false)
            transfer.fail(error)
        }

        private func release(_ transfer: Transfer, _ handle: EasyHandle, isClean: Bool) {
            curl_multi_remove_handle(multi, handle.curl)
            if isClean, let descriptor = transfer.descriptor {
                sockets.kept.ended(ObjectIdentifier(transfer), on: descriptor, isShared: transfer.head.version == .http2)
            }
            let place = transfer.end()
            if let last = active.popLast(), last !== transfer {
                active[place] = last
                last.place = place
            }
            handles.give(back: handle, isClean: isClean)
            startSoon(admission.leave(transfer))
        }

        /// Ends the transfers that have taken too long. Their earliest deadline decides when to look again.
        private func checkDeadlines() {
            guard nextDeadlineCheck <= now else { return }
            var next = UInt64.max
            var late: [Transfer] = []
            for transfer in admission.waitingCount > 0 ? active + admission.waiting : active {
                guard let due = transfer.deadline() else { continue }
                if due <= now { late.append(transfer) } else { next = min(next, due) }
            }
            // Not for every transfer by itself: one look serves all that come due in the meantime.
            nextDeadlineCheck = next == .max ? .max : max(next, now + options.deadlineGrain)
            for transfer in late {
                // A connection whose server is gone, or sends nothing of use, would have the next request wait as well. Curl
                // keeps one of HTTP/2 otherwise; while others use it, it stays theirs.
                transfer.handle?.set(CURLOPT_FORBID_REUSE, 1)
                abort(transfer, transfer.timeoutError())
            }
        }

        private func end() {
            let rest = inbox.withLock { inbox in
                inbox.isClosed = true
                defer { inbox.operations = [] }
                return inbox.operations
            }
            for transfer in active + admission.waiting { abort(transfer, transfer.closedError()) }
            // The thread still counts as the loop's, so what the last jobs start lands in `local`.
            batch += rest
            while !batch.isEmpty || !local.isEmpty {
                for operation in batch {
                    switch operation {
                    case .start(let transfer): transfer.fail(transfer.closedError())
                    case .job(let job): globalConcurrentExecutor.enqueue(ExecutorJob(job))
                    default: break
                    }
                }
                batch.removeAll()
                swap(&batch, &local)
            }
            // Transfers hold their loop.
            admission = Admission(hostLimit: 0, totalLimit: 0)
            unsettled = []
            tearDown()
        }

        private func tearDown() {
            handles = HandlePool()
            curl_multi_cleanup(multi)
            sockets.close()
        }
    }
#endif
