#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A loop that drives transfers over connections of its own.
    ///
    /// `@unchecked Sendable`: `settings` is constant, and everything else is touched only on the loop's thread.
    final class WireLoop: EventLoop, @unchecked Sendable {
        let settings: WireSettings

        // Touched only on the loop's thread.
        let channels: Channels
        let pool: ConnectionPool
        private var sleepers: [ObjectIdentifier: (sleeper: any Sleeper, time: UInt64)] = [:]
        /// When the oldest connection without a transfer is to be closed.
        private var nextExpiry: UInt64 = .max
        private let mostConnections: Int
        /// How many of HTTP/2 to a host where there is room for them.
        private let sharedLimit: Int
        private let mostIdle: Int
        /// Those of HTTP/2 that have something to send.
        private var unflushed: [HTTP2Connection] = []

        /// Starts the thread.
        ///
        /// - Throws: ``HTTPError`` when the system gives no thread or no descriptor.
        init(_ settings: WireSettings, share: LoopShare) throws {
            let poller = Poller()
            self.settings = settings
            mostIdle = min(ConnectionPool.mostIdle, share.ofDescriptors)
            let pool = ConnectionPool(mostIdle: mostIdle)
            self.pool = pool
            channels = Channels(poller) { pool.closeOldest() || pool.closeOldestDial(for: $0) }
            let limits = settings.configuration
            let total = limits.maximumConnections.map(share.of)
            mostConnections = total ?? .max
            let host = limits.maximumConnectionsPerHost.map(share.of)
            sharedLimit = min(host ?? .max, mostConnections)
            super.init(
                "midstream-wire", poller, limits: settings.limits,
                admission: Admission(hostLimit: host ?? 0, totalLimit: total ?? 0, share: share),
                usesCallersThreads: limits.usesCallersThreads)
            try run()
        }

        // MARK: A transfer's way

        override func begin(_ transfer: Transfer) throws {
            assert(isCurrent)
            let transfer = transfer.wire
            try transfer.prepare()
            connect(transfer)
        }

        func connect(_ transfer: WireTransfer) {
            guard transfer.pipe == nil else { return connectAnew(transfer) }
            if let connection = pool.shared(transfer.route, growingTo: sharedLimitNow) { return connection.begin(transfer) }
            if let connection = pool.take(transfer.route) { return connection.begin(transfer) }
            connectAnew(transfer)
        }

        override func settle(_ transfer: Transfer) { transfer.wire.settle() }

        override func release(_ transfer: Transfer, isClean: Bool) {
            assert(isCurrent)
            let transfer = transfer.wire
            let connection = transfer.connection
            transfer.connection = nil
            connection?.letGo(transfer, isClean: isClean)
        }

        override func distrustConnection(of transfer: Transfer) {
            switch transfer.wire.connection {
            case let dial as Dial:
                dial.isDistrusted = true
                // The transfer's end tells how far the dial has come.
                transfer.wire.measured.times = dial.times
            case let stream as HTTP2Stream where !transfer.awaitsBody: stream.connection.distrust()
            default: break
            }
        }

        override func tidy() {
            while let connection = unflushed.popLast() { connection.flush() }
        }

        // MARK: Events

        override func handle(_ descriptor: Int32, _ readiness: Readiness) { channels[descriptor]?.becameReady(readiness) }

        override func runTimers() {
            guard let time = timer, time <= now else { return }
            timer = nil
            var next = UInt64.max
            for (sleeper, time) in sleepers.values {
                guard time <= now else {
                    next = min(next, time)
                    continue
                }
                letSleep(sleeper)
                sleeper.isWoken()
            }
            if nextExpiry <= now { closeUnused() }
            next = min(next, nextExpiry)
            if next < .max { timer = min(timer ?? .max, next) }
        }

        private func closeUnused() {
            let lifetime = settings.idleLifetime
            let oldest = pool.closeUnused(since: now > lifetime ? now - lifetime : 0)
            nextExpiry = oldest.map { $0 + lifetime } ?? .max
        }

        override var mayRest: Bool { pool.dialCount == 0 && unflushed.isEmpty }

        override func countConnections(in statistics: inout TransportStatistics) {
            pool.count(in: &statistics)
            var retired: Set<ObjectIdentifier> = []
            for transfer in active {
                switch transfer.wire.connection {
                case is HTTP1Connection:
                    statistics.count(\.openConnections, transfer.wire.route.originOfConnections)
                // One on which no streams begin any more has left the pool, and a reader may be behind though it is closed.
                case let stream as HTTP2Stream where stream.connection.isRetired && !stream.connection.channel.isClosed:
                    guard retired.insert(ObjectIdentifier(stream.connection)).inserted else { continue }
                    statistics.count(\.openConnections, transfer.wire.route.originOfConnections)
                default: break
                }
            }
        }

        override func tearDown() {
            pool.closeAll()
            channels.closeAll()
            sleepers = [:]
            unflushed = []
        }
    }

    extension WireLoop: DialLoop {
        func connectAnew(_ transfer: WireTransfer) {
            assert(isCurrent)
            guard transfer.pipe == nil else { return dial(for: transfer, mayBeShared: false) }
            if let dial = pool.freeDial(transfer.route) { return dial.adopt(transfer) }
            if let connection = pool.shared(transfer.route, growingTo: sharedLimitNow, isNew: true) {
                return connection.begin(transfer)
            }
            dial(for: transfer, mayBeShared: mayShare(transfer.route))
        }

        func leaveHTTP2(_ route: Route) {
            // For good: a body that can't be read twice would be lost each time that it is found out.
            pool.rememberWithoutHTTP2(route, until: .max)
            pool.retireShared(route)
            stopSharing(route)
        }

        func connectByHTTP1(_ transfer: WireTransfer) {
            guard admission.excess(of: transfer.hostKey) == 0 else { return waitAgain(transfer) }
            if let connection = pool.take(transfer.route) { return connection.begin(transfer) }
            dial(for: transfer, mayBeShared: false)
        }

        /// Has the limits hold again where further requests have connections of their own. What is answered over HTTP/2 goes on there.
        private func stopSharing(_ route: Route) {
            guard admission.isShared(route.hostKey), !pool.isShared(route) else { return }
            unshareConnections(
                route.hostKey, except: active.filter { $0.head.isComplete && $0.wire.connection is HTTP2Stream })
        }

        func mayShare(_ route: Route) -> Bool {
            guard settings.offersHTTP2, !route.isForwarded else { return false }
            return (route.isSecure || settings.configuration.httpVersions == .http2PriorKnowledge)
                && !pool.speaksOnlyHTTP1(route, at: now)
        }

        /// How many connections that aren't shared there may be for a route, beside those that its transfers have or wait for.
        func room(_ route: Route) -> Int {
            guard sharedLimit < .max else { return mostIdle }
            let taken = active.count { $0.hostKey == route.hostKey && !($0.wire.connection is HTTP2Stream) }
            return min(mostIdle, max(0, sharedLimit - taken))
        }

        /// Those that are being made count as well, since most are without a transfer where many are given up.
        var keepsMore: Bool { pool.idle.count + pool.dialCount <= mostIdle }

        /// For how many further connections the limit has room; negative where more stand, as those of HTTP/2 may.
        var freePlaces: Int { mostConnections - channels.count - channels.expected }

        /// How many of HTTP/2 to a host there may be at present. None is added while every connection is in use.
        private var sharedLimitNow: Int { freePlaces <= 0 && pool.idle.count == 0 ? 0 : sharedLimit }

        private func dial(for transfer: WireTransfer, mayBeShared: Bool) {
            // Those without a transfer make room. Admission limits the others, but for a host's further connections of HTTP/2.
            while freePlaces <= 0, pool.closeOldest() || pool.closeOldestDial() {}
            pool.closeUnused(transfer.route, but: room(transfer.route))
            // Before the dial does: when the dial's time is over, so is the transfer's.
            transfer.expectConnection()
            let dial = Dial(
                transfer.route, settings, tls: transfer.tls, mayBeShared: mayBeShared, isExclusive: transfer.pipe != nil,
                loop: self)
            pool.add(dial)
            dial.adopt(transfer)
            dial.start()
        }

        func didDial(_ dial: Dial, _ connection: Connection) {
            assert(isCurrent)
            pool.remove(dial)
            if let age = settings.longestAge { connection.limitOfAge = now + age }
            let isWanted = settings.configuration.keepsConnections || dial.isExpected
            let first = dial.disown()
            guard isWanted else { return pool.close(connection) }
            switch connection {
            case let connection as HTTP2Connection where pool.hasLeftHTTP2(dial.route):
                // It was being made when the server asked for HTTP/1.1.
                connection.end()
                if let first { connectByHTTP1(first) }
            case let connection as HTTP2Connection:
                pool.add(connection)
                guard let first else { return isIdle(connection) }
                connection.begin(first, dial.times)
            case let connection as HTTP1Connection:
                if dial.mayBeShared {
                    pool.rememberWithoutHTTP2(dial.route, until: now + ConnectionPool.rememberedFor)
                }
                if !dial.isExclusive { stopSharing(dial.route) }
                guard let first else { return isFree(connection) }
                connection.begin(first, dial.times)
            default: connection.channel.close()
            }
            connectAll(of: dial)
        }

        /// Connects those that were to share a dial's connection. Where they can't, the limits have let too many in, of whom the last wait again.
        private func connectAll(of dial: Dial) {
            var transfers: [WireTransfer] = []
            while let transfer = dial.disown() { transfers.append(transfer) }
            guard let key = transfers.first?.hostKey else { return }
            let room = max(0, transfers.count - admission.excess(of: key))
            for transfer in transfers[..<room] { connect(transfer) }
            for transfer in transfers[room...] { waitAgain(transfer) }
        }

        private func waitAgain(_ transfer: WireTransfer) {
            transfer.connection = nil
            transfer.measured = WireTransfer.Measured()
            enterAgain(transfer)
        }

        func didFail(_ dial: Dial, _ failure: HTTPError) {
            assert(isCurrent)
            pool.remove(dial)
            while let transfer = dial.disown() {
                if failure.code == .timeout, hasTime(transfer) { connect(transfer) } else { fail(transfer, failure, dial) }
            }
        }

        /// Whether connecting may go on: one that has joined a dial later than it began hasn't had all of its time.
        private func hasTime(_ transfer: WireTransfer) -> Bool {
            settings.connectTimeout.map { now < transfer.measured.waitsSince + $0 } ?? true
        }

        private func fail(_ transfer: WireTransfer, _ failure: HTTPError, _ dial: Dial) {
            transfer.connection = nil
            transfer.measured.times = dial.times
            var error = failure
            (error.request, error.phase) = (transfer.request, transfer.phase)
            fail(transfer, error)
        }

        func isFree(_ connection: HTTP1Connection) {
            assert(isCurrent)
            connection.becameIdle()
            if pool.hasWaiting(connection.route) {
                // Its end, or bytes that nobody has asked for, may have come with the last response.
                guard connection.isUsable else { return close(connection) }
                if let transfer = pool.takeWaiting(connection.route) { return connection.begin(transfer) }
            }
            pool.add(connection)
            expectExpiry()
        }

        func hasRoom(_ connection: HTTP2Connection) {
            guard connection.isUsable, connection.hasRoom, let transfer = pool.takeWaiting(connection.route) else { return }
            connection.begin(transfer)
        }

        func isIdle(_ connection: HTTP2Connection) {
            assert(isCurrent)
            connection.becameIdle()
            if let transfer = pool.takeWaiting(connection.route) { return connection.begin(transfer) }
            pool.keep(connection)
            expectExpiry()
        }

        func retire(_ connection: HTTP2Connection) { pool.retire(connection) }

        func flushLater(_ connection: HTTP2Connection) {
            assert(isCurrent)
            unflushed.append(connection)
        }

        private func expectExpiry() {
            guard nextExpiry == .max else { return }
            nextExpiry = now + settings.idleLifetime
            timer = min(timer ?? .max, nextExpiry)
        }

        func close(_ connection: Connection) { pool.close(connection) }

        func wake(_ sleeper: any Sleeper, at time: UInt64) {
            assert(isCurrent)
            guard time < .max else { return letSleep(sleeper) }
            sleepers[ObjectIdentifier(sleeper)] = (sleeper, time)
            timer = min(timer ?? .max, time)
        }

        func letSleep(_ sleeper: any Sleeper) {
            assert(isCurrent)
            if !sleepers.isEmpty { sleepers[ObjectIdentifier(sleeper)] = nil }
        }
    }
#endif
