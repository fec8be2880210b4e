#if Curl && os(Linux)
    internal import MidstreamCore

    /// Lets as many transfers to a host begin as it may have connections, the others in the order in which they came.
    ///
    /// Curl would make them wait as well, but a newcomer takes the connection that has just become free, and the one that has waited
    /// for it goes to the end of the queue. Over HTTP/2 connections are shared, so that nobody needs to wait.
    ///
    /// Touched only on the loop's thread.
    struct Admission {
        private struct Host {
            var active = 0
            /// It speaks HTTP/2.
            var isShared = false
            var waiting: [Transfer] = []
            /// Those before it have been let in.
            var first = 0
        }

        /// Zero: no limit.
        private let limit: Int
        private var hosts: [Int: Host] = [:]
        /// How many wait, of all hosts.
        private(set) var waitingCount = 0

        init(limit: Int) { self.limit = limit }

        /// Whether the transfer may begin. Otherwise it waits, and ``leave(_:)`` of another one gives it back.
        mutating func enter(_ transfer: Transfer) -> Bool {
            guard limit > 0, transfer.admission == .none, let key = transfer.hostKey else { return true }
            transfer.admission = .inside(key)
            guard hosts[key, default: Host()].active >= limit, hosts[key]?.isShared == false else {
                hosts[key, default: Host()].active += 1
                return true
            }
            transfer.admission = .waiting(key)
            hosts[key]?.waiting.append(transfer)
            waitingCount += 1
            return false
        }

        /// Notes that a transfer has ended, and gives those that may begin now.
        mutating func leave(_ transfer: Transfer) -> [Transfer] {
            guard case .inside(let key) = transfer.admission, var host = hosts.removeValue(forKey: key) else { return [] }
            transfer.admission = .left
            host.active -= 1
            let next = admit(&host, key)
            if host.active > 0 || host.isShared || host.first < host.waiting.count { hosts[key] = host }
            return next
        }

        /// Notes that the transfer's host speaks HTTP/2, and gives all that have waited for it.
        mutating func share(_ transfer: Transfer) -> [Transfer] {
            guard case .inside(let key) = transfer.admission, hosts[key]?.isShared == false,
                var host = hosts.removeValue(forKey: key)
            else { return [] }
            host.isShared = true
            let next = admit(&host, key)
            hosts[key] = host
            return next
        }

        /// Notes that a transfer waits no more, since nobody wants it any more. False when it didn't wait.
        mutating func giveUp(_ transfer: Transfer) -> Bool {
            guard case .waiting = transfer.admission else { return false }
            // It stays in the queue, and is passed over.
            transfer.admission = .left
            waitingCount -= 1
            return true
        }

        /// Those that wait.
        var waiting: [Transfer] {
            hosts.values.flatMap { $0.waiting[$0.first...] }.filter { if case .waiting = $0.admission { true } else { false } }
        }

        private mutating func admit(_ host: inout Host, _ key: Int) -> [Transfer] {
            var next: [Transfer] = []
            while host.first < host.waiting.count, host.isShared || host.active < limit {
                let transfer = host.waiting[host.first]
                host.first += 1
                guard case .waiting = transfer.admission else { continue }
                transfer.admission = .inside(key)
                host.active += 1
                waitingCount -= 1
                next.append(transfer)
            }
            // Not each time: moving all that wait for every one that is let in would be slow.
            if host.first == host.waiting.count || host.first > 256 {
                host.waiting.removeFirst(host.first)
                host.first = 0
            }
            return next
        }
    }

    extension Transfer {
        /// What stands for the scheme, the host and the port of the request; nil when curl doesn't count connections by them.
        fileprivate var hostKey: Int? {
            // Forwarded requests share the connections to the proxy.
            if !isSecure, loop.options.configuration.proxy != .direct { return nil }
            var text = request.urlText
            return text.withUTF8 { text in
                // The colon and two slashes come before the host.
                let host = text.firstIndex(of: UInt8(ascii: ":")).map { $0 + 3 } ?? text.count
                var end = min(host, text.count)
                while end < text.count, text[end] != 0x2F, text[end] != 0x3F, text[end] != 0x23 { end += 1 }
                return withUnsafeTemporaryAllocation(byteCount: end, alignment: 1) { origin in
                    for place in 0..<end { origin[place] = text[place] | 0x20 }
                    var hasher = Hasher()
                    hasher.combine(bytes: UnsafeRawBufferPointer(origin))
                    return hasher.finalize()
                }
            }
        }
    }

    extension EventLoop {
        func shareConnections(of transfer: Transfer) { startSoon(admission.share(transfer)) }

        /// Has those begin that may, after what is done now.
        func startSoon(_ transfers: [Transfer]) {
            for transfer in transfers { post(.start(transfer)) }
        }
    }
#endif
