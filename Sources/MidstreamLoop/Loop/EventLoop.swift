#if os(Linux)
    internal import CLinux
    import Glibc
    internal import Interception
    public import MidstreamCore
    internal import MidstreamPlatform
    import Synchronization

    /// A thread that moves the bytes of transfers, and can run Swift tasks besides. How it does so, a transport's subclass says.
    ///
    /// Other threads post operations to its inbox, which keeps their order: a start always comes before its cancellation. While the
    /// thread rests, a caller may take its place for an exchange (``drive(_:)``).
    ///
    /// `@unchecked Sendable`: `inbox`, `limits` and the settings are constant, and everything else is touched only by the thread that drives
    /// the loop (``isCurrent``), which changes under the inbox's lock. "On the loop's thread" means that one.
    open class EventLoop: TransferLoop, @unchecked Sendable {
        package final let limits: TransferLimits
        /// How many events are dealt with before callers hear of the exchanges that have ended: enough that waking them costs little, and few
        /// enough that the first doesn't wait long.
        private static let eventsAtATime = 128
        private let name: String
        final let usesCallersThreads: Bool
        final let inbox = LoopInbox()

        // Touched only on the loop's thread.
        package final let poller: Poller
        /// When ``runTimers()`` is to be called, in nanoseconds of the monotonic clock; nil: never.
        @exclusivity(unchecked) package final var timer: UInt64?
        /// Transfers with something to do once the present event is dealt with.
        @exclusivity(unchecked) private var unsettled: [Transfer] = []
        @exclusivity(unchecked) package final private(set) var active: [Transfer] = []
        /// How many transfers there are, those that wait included, for other threads.
        final let shownLoad = Atomic(0)
        /// What the loop's own thread has posted.
        @exclusivity(unchecked) final var local: [LoopOperation] = []
        @exclusivity(unchecked) private var batch: [LoopOperation] = []
        /// A transfer has ended since the last wait for sockets.
        @exclusivity(unchecked) private var hasEndedOne = false
        /// Those whose callers haven't heard of it yet.
        @exclusivity(unchecked) private var ended: [(Transfer, failure: (any Error)?)] = []
        /// How often it has waited for sockets.
        @exclusivity(unchecked) package final private(set) var waits = 0
        /// The last of these that has told of all sockets that were ready, and on all of which was acted; none before the driver's first, nor
        /// before the first after a long job.
        @exclusivity(unchecked) package final internal(set) var lastWholeWait = 0
        @exclusivity(unchecked) final var nextDeadlineCheck: UInt64 = .max
        /// The last look at all transfers is worth no other one before then.
        @exclusivity(unchecked) final var soonestDeadlineCheck: UInt64 = 0
        /// How many ready sockets the waits have told of since a transfer has seemed late.
        @exclusivity(unchecked) final var told = 0
        package final let decoding = DecodingRoom()
        @exclusivity(unchecked) package final var admission: Admission
        package final let clock = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        @exclusivity(unchecked) package final var exchanges = ShortExchanges()

        /// - Parameter name: The thread's, at most 15 characters.
        package init(
            _ name: String, _ poller: Poller, limits: TransferLimits, admission: Admission, usesCallersThreads: Bool
        ) {
            self.name = name
            self.poller = poller
            self.limits = limits
            self.admission = admission
            self.usesCallersThreads = usesCallersThreads
            clock.initialize(to: MonotonicTime.now())
        }

        deinit { clock.deallocate() }

        /// Starts the thread; called once, when the subclass has made all that it needs.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor: the loop is torn down then.
        package final func run() throws {
            // Edge-triggered: reported once for each write, so that it needn't be read.
            guard inbox.isUsable, poller.isUsable, poller.add(inbox.wakeDescriptor, for: [.reading, .edges]) else {
                let number = errno
                return try giveUp(number)
            }
            let status = DetachedThread.start { [self] in runThread() }
            guard status == 0 else { return try giveUp(status) }
            ResourceWitness.tell(of: self)
        }

        private func giveUp(_ number: Int32) throws {
            tearDown()
            throw HTTPError.noResources(number)
        }

        // MARK: What moves the bytes says, on the loop's thread

        /// Begins a transfer that has been admitted.
        ///
        /// - Throws: Why it can't; it ends with that.
        open func begin(_ transfer: Transfer) throws {}
        /// Acts on a descriptor that is ready.
        open func handle(_ descriptor: Int32, _ readiness: Readiness) {}
        /// Does what was due at ``timer``, and whatever else is due.
        open func runTimers() {}
        /// Ends (``finish(_:_:isClean:)``) those transfers whose end can't be noticed from within an event.
        open func collectEnded() {}
        /// Does what a transfer has to do once an event is dealt with.
        open func settle(_ transfer: Transfer) {}
        /// Does what can wait until responses have been delivered.
        open func tidy() {}
        /// Lets go of what a transfer has used.
        ///
        /// - Parameter isClean: Whether its connection may be used again.
        open func release(_ transfer: Transfer, isClean: Bool) {}
        /// A transfer is about to end since it has taken too long: its connection is to have no further ones, unless the server waits for the
        /// request's body (``Transfer/awaitsBody``).
        open func distrustConnection(of transfer: Transfer) {}
        /// Whether nobody has to watch the sockets as long as no transfer is under way.
        open var mayRest: Bool { true }
        /// The present thread is about to drive the loop.
        open func willDrive() {}
        /// The present thread will no longer drive the loop.
        open func didDrive() {}
        /// Adds its connections to what is counted.
        open func countConnections(in statistics: inout TransportStatistics) {}
        /// Lets go of everything; there are no transfers any more.
        open func tearDown() {}

        // MARK: From any thread

        @discardableResult
        package final func post(_ operation: LoopOperation) -> Bool {
            guard isCurrent else { return inbox.post(operation) }
            local.append(operation)
            return true
        }

        /// Has the loop do something on its thread, or the caller when the loop has ended.
        package final func ask(_ body: @escaping @Sendable (_ isOver: Bool) -> Void) {
            if !post(.ask(body)) { body(true) }
        }

        /// Ends the thread soon; the transfers that it drives fail.
        package final func close() { inbox.close() }

        /// Blocks until the thread has ended, after ``close()``; not on the thread of a loop, which would keep another one from ending.
        package final func waitForEnd() {
            if !Self.isAnyCurrent { inbox.waitForEnd() }
        }

        // MARK: On the loop's thread

        private func runThread() {
            clinux_name_thread(name)
            beginDriving()
            turn()
            endDriving()
            inbox.end()
        }

        private func turn() {
            while inbox.take(into: &batch) {
                decoding.beginTurn()
                lookBeforeStarts()
                let time = now
                perform()
                // What came during a long job may be what a timer is there for, and is looked at first.
                if now == time { runTimers() }
                settle()
                tellEnds()
                tidy()
                guard !rest() else { continue }
                let mayWait = local.isEmpty && inbox.beginWaiting(as: .thread)
                poller.wait(until: mayWait ? wakeTime : 0)
                takeEvents()
            }
            end()
        }

        /// Acts on what has come on connections that have just become free, before they are used again: one look for all that begin.
        private func lookBeforeStarts() {
            guard hasEndedOne, batch.contains(where: { if case .start = $0 { true } else { false } }) else { return }
            poller.wait(until: 0)
            takeEvents()
        }

        /// When to stop waiting for sockets; `.max`: not before one is ready.
        final var wakeTime: UInt64 { min(timer ?? .max, nextDeadlineCheck) }

        /// Acts on what the last wait has brought.
        final func takeEvents() {
            assert(isCurrent)
            clock.pointee = MonotonicTime.now()
            waits += 1
            hasEndedOne = false
            // By place: what is done about one socket may change how others are watched.
            for place in 0..<poller.readyCount {
                let (descriptor, readiness) = poller.event(at: place)
                if descriptor != inbox.wakeDescriptor { handle(descriptor, readiness) }
                if place % Self.eventsAtATime == Self.eventsAtATime - 1 { tellEnds() }
            }
            if !poller.isFull { lastWholeWait = waits }
            runTimers()
            settle()
            tellEnds()
            checkDeadlines()
        }

        private func perform() {
            for operation in batch { perform(operation) }
            batch.removeAll(keepingCapacity: true)
            // A job that is resumed often posts what it wants sent next, and needs no look at the sockets for it.
            for _ in 0..<Self.mostRounds where !local.isEmpty && !waitsForSockets {
                swap(&batch, &local)
                for operation in batch { perform(operation) }
                batch.removeAll(keepingCapacity: true)
            }
        }

        /// How often what the loop's own thread has posted is carried out before the sockets have their turn.
        private static let mostRounds = 4

        /// Connections that have just become free are looked at before they are used again.
        private var waitsForSockets: Bool { hasEndedOne && local.contains { if case .start = $0 { true } else { false } } }

        private func perform(_ operation: LoopOperation) {
            switch operation {
            case .start(let transfer): start(transfer)
            case .cancel(let transfer): cancel(transfer)
            case .resumeReceiving(let transfer): transfer.resumeReceiving()
            case .resumeSending(let transfer): transfer.resumeSending()
            case .fail(let transfer, let error): abort(transfer, error)
            case .endLate(let transfer, let error): endLate(transfer, error)
            case .job(let job): run(job)
            case .ask(let body): body(false)
            case .run(let body): body()
            }
        }

        /// Tells callers how their transfers have ended: all of a turn's at once, since each may wake a thread.
        final func tellEnds() {
            guard !ended.isEmpty else { return }
            let transfers = ended
            ended.removeAll(keepingCapacity: true)
            for (transfer, failure) in transfers { transfer.complete(failure) }
        }

        /// Ends finished transfers and wakes readers.
        final func settle() {
            assert(isCurrent)
            repeat {
                collectEnded()
                guard !unsettled.isEmpty else { return }
                let transfers = unsettled
                unsettled.removeAll(keepingCapacity: true)
                for transfer in transfers {
                    transfer.isUnsettled = false
                    if transfer.isUnderWay { settle(transfer) }
                }
            } while !unsettled.isEmpty
        }

        final func start(_ transfer: Transfer) {
            assert(isCurrent)
            guard !transfer.isGivenUp else { return refuse(transfer, CancellationError()) }
            defer { showLoad() }
            guard admission.enter(transfer) else {
                transfer.beginWaiting()
                return expectDeadline(of: transfer)
            }
            exchanges.begin(isAlone: active.isEmpty, at: now)
            transfer.beginUnderWay(at: active.count)
            active.append(transfer)
            do {
                try begin(transfer)
            } catch {
                return fail(transfer, error, isClean: true)
            }
            expectDeadline(of: transfer)
        }

        /// Ends a transfer that was never under way.
        private func refuse(_ transfer: Transfer, _ error: any Error) {
            startNext(admission.leave(transfer), afterOneOf: transfer.hostKey)
            // It was expected.
            showLoad()
            transfer.complete(error)
        }

        package final func settleLater(_ transfer: Transfer) {
            assert(isCurrent)
            unsettled.append(transfer)
        }

        /// Ends a transfer of which nothing more will come, as a whole response unless it has failed; does nothing a second time.
        package final func finish(_ transfer: Transfer, _ failure: (any Error)? = nil, isClean: Bool) {
            assert(isCurrent)
            guard transfer.isUnderWay else { return }
            let failure = failure.map { transfer.withMetrics($0) }
            remove(transfer, isClean: isClean)
            hasEndedOne = true
            exchanges.end(at: now)
            ended.append((transfer, failure))
        }

        /// Ends a transfer before its time.
        package final func abort(_ transfer: Transfer, _ error: any Error) {
            assert(isCurrent)
            transfer.isGivenUp = true
            let error = transfer.withMetrics(error)
            if admission.giveUp(transfer) {
                showLoad()
                return transfer.complete(error)
            }
            fail(transfer, error, isClean: false)
        }

        private func fail(_ transfer: Transfer, _ error: any Error, isClean: Bool) {
            guard transfer.isUnderWay else { return }
            remove(transfer, isClean: isClean)
            transfer.complete(error)
        }

        private func remove(_ transfer: Transfer, isClean: Bool) {
            release(transfer, isClean: isClean)
            transfer.endUnderWay()
            leave(transfer)
        }

        private func leave(_ transfer: Transfer) {
            if let last = active.popLast(), last !== transfer {
                active[transfer.place] = last
                last.place = transfer.place
            }
            startNext(admission.leave(transfer), afterOneOf: transfer.hostKey)
            showLoad()
        }

        /// Has a transfer that has no connection pass the limits once more: they didn't concern it while its host shared connections.
        package final func enterAgain(_ transfer: Transfer) {
            assert(isCurrent)
            transfer.expectPlace()
            leave(transfer)
            transfer.admission = .none
            post(.start(transfer))
        }

        // MARK: The end

        private func end() {
            let rest = inbox.withLock { inbox in
                inbox.isClosed = true
                defer { inbox.operations = [] }
                return inbox.operations
            }
            for transfer in allTransfers { abort(transfer, transfer.closedError()) }
            // Some may have been about to begin in the place of others.
            tellEnds()
            tearDown()
            // Transfers hold their loop.
            admission = Admission(hostLimit: 0, totalLimit: 0)
            unsettled = []
            // The thread still counts as the loop's, so what the last jobs start lands in `local`, and so do tasks that wait for an end, or for
            // the release of what a transfer held.
            batch += rest
            while !batch.isEmpty || !local.isEmpty {
                for operation in batch {
                    switch operation {
                    case .start(let transfer): transfer.complete(transfer.closedError())
                    case .job(let job): globalConcurrentExecutor.enqueue(ExecutorJob(job))
                    case .ask(let body): body(true)
                    default: break
                    }
                }
                batch.removeAll()
                swap(&batch, &local)
            }
        }
    }
#endif
