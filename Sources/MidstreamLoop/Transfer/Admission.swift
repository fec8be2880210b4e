#if os(Linux)
    /// Limits the transfers that are under way to the allowed connections, to a host and in all; the others wait in order.
    ///
    /// libcurl's own queue isn't fair: a new request takes the connection that has just become free, and the one that has waited goes to the
    /// end; and each request costs a look at all others. Over HTTP/2 connections are shared: as long as a host has a transfer, all of them need
    /// one place among all connections, and none waits for its host. Those that may come to carry another protocol share with nobody.
    ///
    /// Where several loops divide the limits, each has an admission of its own, and places that it keeps for transfers of others
    /// (``WaitingCounts``).
    ///
    /// Touched only on the loop's thread.
    package struct Admission {
        private struct Host {
            /// How many have passed the host's limit.
            var active = 0
            /// Those of them that have a connection of their own, whatever the host speaks.
            var own = 0
            /// The others that are under way.
            var ordinary = 0
            /// How many places they have in ``Admission/inside``.
            var counted = 0
            /// It speaks HTTP/2.
            var isShared = false
            var waiting = TransferLine()

            /// How many count towards the host's limit.
            var limited: Int { isShared ? own : active }

            /// Whether a transfer may go over a connection that has a place already.
            func covers(isOwn: Bool) -> Bool { isShared && ordinary > 0 && !isOwn }

            /// Whether it covers some of those in line: what has passed and has no connection of its own is there or under way.
            var coversSomeInLine: Bool { isShared && ordinary > 0 && active > own + ordinary }

            mutating func pass(isOwn: Bool) {
                active += 1
                if isOwn { own += 1 }
            }

            mutating func stepBack(isOwn: Bool) {
                active -= 1
                if isOwn { own -= 1 }
            }

            mutating func begin(isOwn: Bool) {
                if !isOwn { ordinary += 1 }
            }

            mutating func take(isOwn: Bool) {
                pass(isOwn: isOwn)
                begin(isOwn: isOwn)
            }

            mutating func end(isOwn: Bool) {
                stepBack(isOwn: isOwn)
                if !isOwn { ordinary -= 1 }
            }
        }

        /// How many may be under way to one host, and in all; zero: no limit.
        private let hostLimit: Int
        private let totalLimit: Int
        /// Where other loops see what waits here; nil where there are none.
        package let counts: WaitingCounts?
        /// The loop's place among them.
        private let place: Int
        private var hosts: [Int: Host] = [:]
        /// How many are under way, those to a host that shares connections as one.
        private var inside = 0
        /// Those that have passed their host's limit and wait for the one of all connections.
        private var line = TransferLine()
        /// With more hosts, those that share connections and have no transfer are forgotten.
        private var mostHosts = Self.mostRemembered
        private static let mostRemembered = 4_096
        package private(set) var waitingCount = 0

        /// - Parameter share: The loop's part of the limits, which are given as what that comes to.
        package init(hostLimit: Int, totalLimit: Int, share: LoopShare = .whole) {
            self.hostLimit = hostLimit
            self.totalLimit = totalLimit
            counts = share.counts
            place = share.place
        }

        /// Whether the transfer may begin. Otherwise it waits, and ``leave(_:)`` of another one returns it.
        package mutating func enter(_ transfer: Transfer) -> Bool {
            guard hostLimit > 0 || totalLimit > 0, transfer.admission == .none else { return true }
            // Forwarded requests share the connections to the proxy, which libcurl limits itself.
            if !transfer.isSecure, transfer.loop.limits.forwardsPlainRequests, !transfer.hasOwnConnection { return true }
            let key = transfer.hostKey
            if let host = hosts[key], hostLimit > 0, host.limited >= hostLimit, !host.isShared || transfer.hasOwnConnection {
                transfer.admission = .waiting(key)
                hosts[key]?.waiting.append(transfer)
                noteWaiting(transfer, key)
                return false
            }
            guard totalLimit > 0 else {
                hosts[key, default: Host()].take(isOwn: transfer.hasOwnConnection)
                transfer.admission = .inside(key)
                return true
            }
            var host = hosts.removeValue(forKey: key) ?? Host()
            let isIn = passHost(transfer, &host, key)
            hosts[key] = host
            if !isIn { noteWaiting(transfer, key) }
            return isIn
        }

        private mutating func noteWaiting(_ transfer: Transfer, _ key: Int) {
            waitingCount += 1
            if !transfer.staysOnLoop { counts?.begin(WantedPlace(host: key, isOwn: transfer.hasOwnConnection), on: place) }
        }

        private mutating func noteEndOfWaiting(_ transfer: Transfer, _ key: Int) {
            waitingCount -= 1
            if !transfer.staysOnLoop { counts?.end(WantedPlace(host: key, isOwn: transfer.hasOwnConnection), on: place) }
        }

        /// Takes a transfer for which its host has room; false when it waits for the limit of all connections.
        private mutating func passHost(_ transfer: Transfer, _ host: inout Host, _ key: Int) -> Bool {
            host.pass(isOwn: transfer.hasOwnConnection)
            guard takePlace(&host, isOwn: transfer.hasOwnConnection) else {
                transfer.admission = .inLine(key)
                line.append(transfer)
                return false
            }
            host.begin(isOwn: transfer.hasOwnConnection)
            transfer.admission = .inside(key)
            return true
        }

        /// Takes a place among all connections, if one is needed; false when there is none.
        private mutating func takePlace(_ host: inout Host, isOwn: Bool) -> Bool {
            guard totalLimit > 0, !host.covers(isOwn: isOwn) else { return true }
            guard hasPlace else { return false }
            inside += 1
            host.counted += 1
            return true
        }

        private var hasPlace: Bool { inside < totalLimit && line.isEmpty }

        /// Notes that a transfer has ended; returns those that may begin now.
        package mutating func leave(_ transfer: Transfer) -> [Transfer] {
            guard case .inside(let key) = transfer.admission else { return [] }
            transfer.admission = .left
            return leave(key, isOwn: transfer.hasOwnConnection)
        }

        private mutating func leave(_ key: Int, isOwn: Bool) -> [Transfer] {
            if totalLimit == 0, waitingCount == 0, let place = hosts.index(forKey: key), hosts.values[place].active > 1 {
                // Nobody waits for anything.
                hosts.values[place].end(isOwn: isOwn)
                return []
            }
            guard var host = hosts.removeValue(forKey: key) else { return [] }
            host.end(isOwn: isOwn)
            if host.counted > 0, !host.covers(isOwn: isOwn) {
                host.counted -= 1
                inside -= 1
            }
            let next = admit(&host, key)
            put(back: host, key)
            return next + admitLine()
        }

        /// Notes that the transfer's host speaks HTTP/2; returns those that may begin now.
        package mutating func share(_ transfer: Transfer) -> [Transfer] {
            guard case .inside(let key) = transfer.admission, hosts[key]?.isShared == false,
                var host = hosts.removeValue(forKey: key)
            else { return [] }
            host.isShared = true
            if totalLimit > 0 {
                inside -= host.ordinary - 1
                host.counted -= host.ordinary - 1
            }
            let next = takeFromLine(&host, key) + takeWaiting(&host, key) + admit(&host, key)
            hosts[key] = host
            return next + admitLine()
        }

        /// Those of a host that need no place of their own among all connections.
        private mutating func takeFromLine(_ host: inout Host, _ key: Int) -> [Transfer] {
            // To look for them takes a look at all in line.
            guard host.coversSomeInLine else { return [] }
            let taken = line.takeAll { $0.admission == .inLine(key) && host.covers(isOwn: $0.hasOwnConnection) }
            for transfer in taken {
                host.begin(isOwn: transfer.hasOwnConnection)
                transfer.admission = .inside(key)
                noteEndOfWaiting(transfer, key)
            }
            return taken
        }

        /// Those that need none among the host's either.
        private mutating func takeWaiting(_ host: inout Host, _ key: Int) -> [Transfer] {
            guard host.covers(isOwn: false) else { return [] }
            let taken = host.waiting.takeAll { !$0.hasOwnConnection }
            for transfer in taken {
                host.take(isOwn: transfer.hasOwnConnection)
                transfer.admission = .inside(key)
                noteEndOfWaiting(transfer, key)
            }
            return taken
        }

        /// Whether a host is known to share connections among its requests.
        package func isShared(_ key: Int) -> Bool { hosts[key]?.isShared == true }

        /// How many more are under way than the limits allow, which didn't count them while their host shared connections.
        package func excess(of key: Int) -> Int {
            guard let host = hosts[key] else { return 0 }
            return max(0, hostLimit > 0 ? host.limited - hostLimit : 0, totalLimit > 0 ? inside - totalLimit : 0)
        }

        /// Notes that a host doesn't share connections any more: those that are under way to it count again, a connection each, but for those
        /// that go on over one that they share. Returns those that may begin now.
        package mutating func unshare(_ key: Int, except sharing: [Transfer]) -> [Transfer] {
            guard isShared(key), var host = hosts.removeValue(forKey: key) else { return [] }
            host.isShared = false
            let places = min(1, host.ordinary)
            for transfer in sharing where transfer.admission == .inside(key) {
                transfer.admission = .left
                host.end(isOwn: transfer.hasOwnConnection)
            }
            if totalLimit > 0 {
                inside += host.ordinary - places
                host.counted += host.ordinary - places
            }
            put(back: host, key)
            return admitLine()
        }

        /// Ends the waiting of a transfer that was given up; false when it didn't wait.
        package mutating func giveUp(_ transfer: Transfer) -> Bool {
            switch transfer.admission {
            case .waiting(let key):
                transfer.admission = .left
                hosts[key]?.waiting.passOver()
                noteEndOfWaiting(transfer, key)
            case .inLine(let key):
                transfer.admission = .left
                line.passOver()
                leaveLine(transfer, key)
            case .none, .inside, .left: return false
            }
            return true
        }

        private mutating func leaveLine(_ transfer: Transfer, _ key: Int) {
            noteEndOfWaiting(transfer, key)
            guard var host = hosts.removeValue(forKey: key) else { return }
            host.stepBack(isOwn: transfer.hasOwnConnection)
            // The next one of its host takes its place, at the end of the line.
            _ = admit(&host, key)
            put(back: host, key)
        }

        package var waiting: [Transfer] {
            (hosts.values.flatMap { $0.waiting.rest } + line.rest).filter { $0.admission.isWaiting }
        }

        private mutating func put(back host: Host, _ key: Int) {
            guard host.active > 0 || host.isShared || !host.waiting.isEmpty else { return }
            hosts[key] = host
            guard host.active == 0, hosts.count > mostHosts else { return }
            hosts = hosts.filter { $0.value.active > 0 || !$0.value.waiting.isEmpty }
            mostHosts = max(Self.mostRemembered, 2 * hosts.count)
        }

        private mutating func admit(_ host: inout Host, _ key: Int) -> [Transfer] {
            var next: [Transfer] = []
            while !host.waiting.isEmpty, host.limited < hostLimit {
                guard let transfer = host.waiting.next() else { break }
                if passHost(transfer, &host, key) {
                    noteEndOfWaiting(transfer, key)
                    next.append(transfer)
                }
            }
            return next
        }

        private mutating func admitLine() -> [Transfer] {
            var next: [Transfer] = []
            while inside < totalLimit, let transfer = line.next() {
                guard case .inLine(let key) = transfer.admission, var host = hosts.removeValue(forKey: key) else { continue }
                host.begin(isOwn: transfer.hasOwnConnection)
                transfer.admission = .inside(key)
                noteEndOfWaiting(transfer, key)
                next.append(transfer)
                host.counted += 1
                inside += 1
                next += takeFromLine(&host, key)
                hosts[key] = host
            }
            return next
        }
    }

    /// What goes over to another loop.
    extension Admission {
        /// Keeps a place for a transfer of another loop; false when there is none.
        mutating func reserve(_ wanted: WantedPlace) -> Bool {
            var host = hosts.removeValue(forKey: wanted.host) ?? Host()
            defer { put(back: host, wanted.host) }
            let isUnlimited = hostLimit == 0 || (host.isShared && !wanted.isOwn)
            guard isUnlimited || host.limited < hostLimit, takePlace(&host, isOwn: wanted.isOwn) else { return false }
            host.take(isOwn: wanted.isOwn)
            return true
        }

        /// Gives back a place that was kept for nobody; returns those that may begin now.
        mutating func giveBack(_ place: WantedPlace) -> [Transfer] { leave(place.host, isOwn: place.isOwn) }

        /// Takes out one that waits, for a loop that keeps a place for it; nil when none does any more.
        mutating func handOver(_ wanted: WantedPlace) -> Transfer? {
            counts?.answer(wanted, on: place)
            let key = wanted.host
            var next = hosts[key]?.waiting.take { !$0.staysOnLoop && $0.hasOwnConnection == wanted.isOwn }
            if let next {
                noteEndOfWaiting(next, key)
            } else {
                next = line.take {
                    $0.admission == .inLine(key) && !$0.staysOnLoop && $0.hasOwnConnection == wanted.isOwn
                }
                if let next { leaveLine(next, key) }
            }
            next?.admission = .inside(key)
            return next
        }

        /// What transfers of other loops wait for that one to a host may have left.
        func wantedPlaces(afterOneOf key: Int) -> [WantedPlace] {
            if let counts, totalLimit > 0, hasPlace { return counts.unclaimedPlaces }
            return [WantedPlace(host: key, isOwn: false), WantedPlace(host: key, isOwn: true)]
        }
    }

    extension Admission {
        /// A hash of a URL's scheme, host and port, and of where its connection leads instead.
        package static func hostKey(of url: String, at address: String?) -> Int {
            var url = url
            return url.withUTF8 { text in
                // The colon and two slashes come before the host.
                let host = text.firstIndex(of: UInt8(ascii: ":")).map { $0 + 3 } ?? text.count
                var end = min(host, text.count)
                while end < text.count, text[end] != 0x2F, text[end] != 0x3F, text[end] != 0x23 { end += 1 }
                return withUnsafeTemporaryAllocation(byteCount: end, alignment: 1) { origin in
                    for place in 0..<end { origin[place] = text[place] | 0x20 }
                    var hasher = Hasher()
                    hasher.combine(bytes: UnsafeRawBufferPointer(origin))
                    if let address { hasher.combine(address) }
                    return hasher.finalize()
                }
            }
        }
    }

    /// Where a transfer is with regard to the limits of connections; with the key of its host.
    package enum AdmissionState: Equatable {
        case none
        /// It waits for its host.
        case waiting(Int)
        /// It waits for any of all connections.
        case inLine(Int)
        case inside(Int)
        case left

        package var isWaiting: Bool {
            switch self {
            case .waiting, .inLine: true
            case .none, .inside, .left: false
            }
        }
    }
#endif
