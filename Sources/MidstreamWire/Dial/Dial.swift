#if os(Linux)
    import Glibc
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// Makes a connection: name, socket, proxy, TLS. It is made for a transfer, which may meanwhile get another connection, or end; then another
    /// one may take its place. Others wait with it where they may all share the connection.
    ///
    /// `@unchecked Sendable`: touched only on the loop's thread; what looks names up only carries it there.
    final class Dial: TransferConnection, ChannelOwner, Sleeper, @unchecked Sendable {
        private enum Stage {
            case lookup
            case connecting(SocketRace)
            case securingProxy(Channel, TLSSession)
            case proxy(Channel, any ProxyHandshake)
            case securing(Channel)
            case over
        }

        let route: Route
        private let settings: WireSettings
        private let tls: TLSContext?
        private unowned let loop: any DialLoop
        /// The first is the one that it was made for, as long as that waits.
        private(set) var transfers: [WireTransfer] = []
        /// Whether HTTP/2 may come of it.
        let mayBeShared: Bool
        /// Its connection is for its own transfer alone.
        let isExclusive: Bool
        private(set) var times = DialTimes()
        private var stage = Stage.lookup
        private var asking: HostLookup.Asking?
        /// Whether it has asked again for a name, though nothing was lacking by then.
        private var hasAskedAgain = false
        /// When it has taken too long, in nanoseconds of the monotonic clock.
        let deadline: UInt64
        /// When it has gone on for too long without a transfer; never while it has one.
        private(set) var loneDeadline: UInt64 = .max
        /// When the next address is to be tried.
        private var nextTry: UInt64 = .max
        /// The origin's address, where it is looked up here and told to a proxy.
        private var target: String?
        /// TLS to the proxy, once it stands.
        private var proxyTLS: TLSSession?
        /// What the proxy has sent.
        private var received: [UInt8] = []
        /// Told when it ends.
        private var observers: [(HTTPError?) -> Void] = []
        /// Its server was too slow for a transfer.
        var isDistrusted = false

        /// How long a dial goes on without a transfer where the configuration has no limit, in nanoseconds: 30 s.
        private static let longestAlone: UInt64 = 30_000_000_000

        init(
            _ route: Route, _ settings: WireSettings, tls: TLSContext?, mayBeShared: Bool, isExclusive: Bool = false,
            loop: any DialLoop
        ) {
            self.route = route
            self.mayBeShared = mayBeShared
            self.isExclusive = isExclusive
            self.settings = settings
            self.tls = route.isSecure ? tls : nil
            self.loop = loop
            // A task may have computed since the loop's last wait, whose time that isn't.
            deadline = settings.connectTimeout.map { MonotonicTime.now() + $0 } ?? .max
            loop.channels.expected += 1
        }

        /// Takes a transfer that the connection will be for.
        func adopt(_ transfer: WireTransfer) {
            assert(loop.isCurrent)
            transfers.append(transfer)
            transfer.connection = self
            transfer.expectConnection()
            loneDeadline = .max
            sleep()
        }

        /// Gives up the transfer that has waited longest; nil when there is none.
        func disown() -> WireTransfer? {
            guard !transfers.isEmpty else { return nil }
            defer { goOnAlone() }
            return transfers.removeFirst()
        }

        /// Whether its first transfer would take any connection: one that goes out again wants one that hasn't served.
        var mayYield: Bool { !isExclusive && transfers.first?.resends == 0 }

        /// Whether somebody waits for its connection.
        var isExpected: Bool { !transfers.isEmpty || !observers.isEmpty }

        /// Whether it has no socket yet.
        var isLookingUp: Bool { if case .lookup = stage { true } else { false } }

        private func goOnAlone() {
            guard transfers.isEmpty else { return }
            loneDeadline = loop.now + Self.longestAlone
            sleep()
        }

        /// Until something is due.
        private func sleep() {
            if case .over = stage { return }
            loop.wake(self, at: min(deadline, loneDeadline, nextTry))
        }

        /// Begins. Without a transfer it goes on for as long as after one.
        func start() {
            goOnAlone()
            findAddresses()
        }

        /// Tells of its end, and why there is no connection.
        func observe(_ observer: @escaping (HTTPError?) -> Void) { observers.append(observer) }

        private func tellObservers(_ failure: HTTPError?) {
            let told = observers
            observers = []
            for observer in told { observer(failure) }
        }

        // MARK: As long as the transfer waits

        func receive() {}
        func send() {}

        func letGo(_ transfer: WireTransfer, isClean: Bool) {
            transfers.removeAll { $0 === transfer }
            let isKept = !isDistrusted && !isExclusive && settings.configuration.keepsConnections && loop.keepsMore
            guard isKept || isExpected else {
                return fail(isDistrusted ? .init(.timeout, phase: .notSent) : .init(.timeout, phase: .notSent).refusedHere)
            }
            goOnAlone()
        }

        // MARK: Steps

        func channelIsReady() {
            assert(loop.isCurrent)
            do throws(HTTPError) { try goOn() } catch { fail(error) }
        }

        func isWoken() {
            guard loop.now < min(deadline, loneDeadline) else {
                let peer = Endpoint(of: route, settings).name
                let reason = isLookingUp ? ": the lookup of a name wasn't answered." : "."
                let message = "The connection to \(peer) didn't stand within the time allowed\(reason)"
                return fail(HTTPError(.timeout, message, phase: .notSent))
            }
            channelIsReady()
            sleep()
        }

        private func goOn() throws(HTTPError) {
            switch stage {
            case .lookup, .over: break
            case .connecting(var race): try goOn(with: &race)
            case .securingProxy(let channel, let session): try secureProxy(channel, session)
            case .proxy(let channel, var handshake): try goOn(with: &handshake, channel)
            case .securing(let channel): try secure(channel)
            }
        }

        /// Whether the name to be looked up is the origin's, for a proxy to be told of.
        private var findsOrigin: Bool {
            if case .socks5(resolvesNames: false) = route.proxy?.kind { target == nil } else { false }
        }

        private func findAddresses() {
            if findsOrigin {
                return find(route.name, port: route.port) { dial, addresses in
                    dial.target = addresses.first?.text?.address
                    dial.findAddresses()
                }
            }
            switch Endpoint(of: route, settings).place {
            case .address(let address): connect([address])
            case .host(let host, let port): find(host, port: port) { $0.connect($1) }
            }
        }

        private func find(_ host: String, port: UInt16, then next: @escaping @Sendable (Dial, [HostAddress]) -> Void) {
            if let known = settings.lookup.known(host, port: port) { return found(known, then: next) }
            asking = settings.lookup.find(host, port: port) { [self, loop] addresses in
                loop.post(.run { self.found(addresses, then: next) })
            }
        }

        private func found(_ addresses: HostLookup.Found, then next: (Dial, [HostAddress]) -> Void) {
            guard case .lookup = stage else { return }
            switch addresses {
            case .success(let addresses): next(self, addresses)
            case .failure(let error):
                if error.isRefusedHere, mayAskAgain() { return findAddresses() }
                guard route.proxy != nil, !findsOrigin, !error.isRefusedHere else { return fail(error) }
                fail(HTTPError(.proxy, error.message, underlying: error.underlying, phase: .notSent))
            }
        }

        /// Whether a lookup that the system had no resources for may have them now.
        private func mayAskAgain() -> Bool {
            if HostLookup.lackOfDescriptors() != nil { return loop.channels.makeRoom(self) }
            // A descriptor may have come free since. For want of a thread no connection has to go.
            defer { hasAskedAgain = true }
            return !hasAskedAgain
        }

        private func connect(_ addresses: [HostAddress]) {
            times.found = MonotonicTime.now()
            let allowed = addresses.filter { $0.withSocketAddress { address, _ in settings.allowed.contains(address) } }
            guard !allowed.isEmpty else { return fail(.noAllowedAddress(of: route.name)) }
            let local = settings.localAddress
            let suitable = local.map { local in allowed.filter { $0.family == local.family || $0.family == AF_UNIX } } ?? allowed
            guard !suitable.isEmpty else {
                let message = "\(Endpoint(of: route, settings).name) has no address of the kind that localAddress is of."
                return fail(HTTPError(.connection, message, phase: .notSent).refusedHere)
            }
            loop.channels.expected -= 1
            stage = .connecting(SocketRace(suitable, from: local))
            channelIsReady()
        }

        private func goOn(with race: inout SocketRace) throws(HTTPError) {
            let progress = race.goOn(at: loop.now, loop.channels, owner: self)
            stage = .connecting(race)
            switch progress {
            case .wait(let time):
                nextTry = time
                sleep()
            case .failed(let number):
                let message = "Can't connect to \(Endpoint(of: route, settings).name): \(String(cString: strerror(number)))."
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(number) {
                    throw HTTPError(.connection, message, phase: .notSent).refusedHere
                }
                // The address of this machine can't be used, or has no port left.
                let isProxys = route.proxy != nil && number != EADDRNOTAVAIL
                throw HTTPError(isProxys ? .proxy : .connection, message, phase: .notSent)
            case .connected(let channel, let address):
                // The race doesn't have it any more, and what follows may fail before the next stage.
                stage = .securing(channel)
                channel.didConnect(to: address, number: settings.nextConnectionNumber())
                times.connected = MonotonicTime.now()
                nextTry = .max
                sleep()
                try beginProxyTLS(channel)
            }
        }

        // MARK: The proxy

        private func beginProxyTLS(_ channel: Channel) throws(HTTPError) {
            guard let proxy = route.proxy, proxy.isSecure else { return try meetProxy(channel) }
            let session: TLSSession
            do {
                session = try TLSSession(
                    settings.proxyTLS.current(), host: proxy.name, peer: "\(proxy.host):\(proxy.port)", protocols: ["http/1.1"],
                    isForProxy: true)
            } catch {
                throw (error as? HTTPError)?.refusedHere ?? .noResources(ENOMEM)
            }
            channel.beginTLS(session)
            try secureProxy(channel, session)
        }

        private func secureProxy(_ channel: Channel, _ session: TLSSession) throws(HTTPError) {
            stage = .securingProxy(channel, session)
            let isDone: Bool
            do throws(ChannelFailure) {
                isDone = try channel.handshake()
            } catch {
                let message = "The proxy can't be spoken to: \(error.message)"
                if case .tls = error { throw HTTPError.tls(message) }
                throw HTTPError.proxy(message)
            }
            guard isDone else { return }
            proxyTLS = session
            try meetProxy(channel)
        }

        private func meetProxy(_ channel: Channel) throws(HTTPError) {
            guard let proxy = route.proxy, !route.isForwarded else { return try beginTLS(channel) }
            var handshake: any ProxyHandshake
            switch proxy.kind {
            case .http, .https: handshake = Tunnel(authority: route.authority, authorization: proxy.authorization)
            case .socks5:
                handshake = try SOCKSHandshake(to: target ?? route.name, port: route.port, credentials: proxy.credentials)
            }
            stage = .proxy(channel, handshake)
            try say(handshake.opening(), to: channel)
            try goOn(with: &handshake, channel)
        }

        private func goOn(with handshake: inout any ProxyHandshake, _ channel: Channel) throws(HTTPError) {
            while true {
                // What follows a SOCKS proxy's answer is the server's, which may speak first over HTTP/2.
                switch channel.read(atMost: route.proxy?.isHTTP == true ? .max : 1) {
                case .bytes(let bytes): received += bytes
                case .wait:
                    stage = .proxy(channel, handshake)
                    return
                case .ended: throw .proxy("The proxy closed the connection.")
                case .failed(let failure): throw .proxy("The proxy failed: \(failure.message)")
                }
                guard received.count <= HeadReader.sizeLimit else { throw .proxy("The proxy's answer is too long.") }
                var hasMore = true
                while hasMore {
                    switch try handshake.next(&received) {
                    case .wait: hasMore = false
                    case .send(let bytes): try say(bytes, to: channel)
                    case .done: return try beginTLS(channel)
                    }
                }
            }
        }

        /// The few bytes of a handshake always have room.
        private func say(_ bytes: [UInt8], to channel: Channel) throws(HTTPError) {
            let count = bytes.withUnsafeBytes { channel.write($0) }
            guard count == bytes.count else { throw .proxy("The proxy closed the connection.") }
        }

        // MARK: TLS

        private var protocols: [String] {
            if transfers.first?.isPiped == true { return [] }
            guard mayBeShared else { return ["http/1.1"] }
            return settings.configuration.httpVersions == .http2PriorKnowledge ? ["h2"] : ["h2", "http/1.1"]
        }

        private func beginTLS(_ channel: Channel) throws(HTTPError) {
            guard let tls else { return finish(channel) }
            channel.beginTLS(
                try TLSSession(tls, host: route.name, peer: route.authority, protocols: protocols, through: proxyTLS))
            try secure(channel)
        }

        private func secure(_ channel: Channel) throws(HTTPError) {
            stage = .securing(channel)
            let isDone: Bool
            do throws(ChannelFailure) {
                isDone = try channel.handshake()
            } catch {
                if case .tls = error { throw HTTPError.tls(error.message) }
                // Nobody has judged the other side: the next connection may do.
                throw HTTPError(.connection, error.message, phase: .notSent)
            }
            guard isDone else { return }
            times.secured = MonotonicTime.now()
            finish(channel)
        }

        // MARK: Ends

        private func finish(_ channel: Channel) {
            stage = .over
            loop.letSleep(self)
            let isShared =
                channel.chosenProtocol == "h2" || mayBeShared && settings.configuration.httpVersions == .http2PriorKnowledge
            loop.didDial(
                self,
                isShared
                    ? HTTP2Connection(channel, route: route, loop: loop) : HTTP1Connection(channel, route: route, loop: loop))
            tellObservers(nil)
        }

        private func fail(_ failure: HTTPError) {
            if !failure.isRefusedHere { doubtAddresses() }
            close(telling: failure)
            loop.didFail(self, failure)
        }

        /// Has looked up anew what nothing could be connected to.
        private func doubtAddresses() {
            switch stage {
            case .connecting:
                guard case .host(let host, let port) = Endpoint(of: route, settings).place else { return }
                settings.lookup.doubt(host, port: port)
            case .proxy where target != nil: settings.lookup.doubt(route.name, port: route.port)
            default: break
            }
        }

        /// Gives up what is under way, which says nothing of the host; those who wait for its end are told the failure.
        func close(telling failure: HTTPError? = .transportClosed) {
            defer { tellObservers(failure) }
            switch stage {
            case .lookup:
                loop.channels.expected -= 1
                if let asking { settings.lookup.giveUp(asking) }
            case .over: break
            case .connecting(var race): race.close()
            case .securingProxy(let channel, _), .proxy(let channel, _), .securing(let channel): channel.close()
            }
            stage = .over
            loop.letSleep(self)
        }
    }
#endif
