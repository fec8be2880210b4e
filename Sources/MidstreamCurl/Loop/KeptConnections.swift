#if Curl && os(Linux)
    internal import CCurl
    import Glibc
    internal import MidstreamCore

    /// Which kept connections can be used again.
    ///
    /// What comes on an idle HTTP/1 connection answers no request (RFC 9112 §9.2), and would be taken for the answer to the next
    /// one. So a connection on which anything comes while nobody uses it is buried: a socket whose other end is closed takes its
    /// place under its number, and curl finds the connection dead.
    extension SocketWatch {
        /// Notes that curl has ended a transfer as it should: its connection is idle, unless another has begun on it.
        ///
        /// Curl doesn't say so: it may never have waited for an answer that came at once, and it also stops waiting while somebody has
        /// to go on before it does.
        mutating func ended(_ transfer: Transfer) {
            guard let descriptor = transfer.descriptor, entries[Int(descriptor)].lastUser == ObjectIdentifier(transfer) else {
                return
            }
            if transfer.head.version == .http2 { entries[Int(descriptor)].isShared = true }
            entries[Int(descriptor)].isIdle = true
            entries[Int(descriptor)].lastUser = nil
        }

        /// Notes that a transfer is about to use a connection, and looks at it when it is a kept one.
        ///
        /// - Returns: Whether something has come on it meanwhile. It is buried then: sending fails, and curl tries the next one.
        mutating func take(for transfer: Transfer, isNew: Bool, localPort: Int32, ends: ConnectionEnds) -> Bool {
            transfer.descriptor = nil
            // A unix domain socket has no port to be known by.
            guard localPort > 0 else { return false }
            if isNew {
                guard let descriptor = takeNewest(localPort) else { return false }
                byEnds[ends] = descriptor
                entries[Int(descriptor)].ends = ends
                begin(transfer, on: descriptor)
                return false
            }
            // Epoll may not have been asked since it came.
            guard let descriptor = byEnds[ends] else { return false }
            let isUsable = !mustBeSilent(descriptor) || ccurl_is_silent(descriptor) != 0
            begin(transfer, on: descriptor)
            if !isUsable { bury(descriptor) }
            return !isUsable
        }

        private mutating func begin(_ transfer: Transfer, on descriptor: Int32) {
            transfer.descriptor = descriptor
            entries[Int(descriptor)].isIdle = false
            entries[Int(descriptor)].lastUser = ObjectIdentifier(transfer)
        }

        /// Whether nobody uses the connection, so that nothing may come on it. Known only of one of which ``take`` is told.
        func mustBeSilent(_ descriptor: Int32) -> Bool {
            let entry = entries[Int(descriptor)]
            return entry.ends != nil && entry.isIdle && !entry.isShared
        }

        /// The one socket with a port among those that haven't been used before; nil when there is none, or several that go to
        /// different places.
        private mutating func takeNewest(_ port: Int32) -> Int32? {
            var found: Int?
            for place in newest.indices {
                if newest[place].port == 0 { newest[place].port = ccurl_local_port(newest[place].descriptor) }
                guard newest[place].port == port else { continue }
                guard found == nil else { return nil }
                found = place
            }
            guard let found else { return nil }
            let descriptor = newest[found].descriptor
            newest.swapAt(found, newest.count - 1)
            newest.removeLast()
            return descriptor
        }

        mutating func forget(_ descriptor: Int32) {
            newest.removeAll { $0.descriptor == descriptor }
            if let ends = entries[Int(descriptor)].ends, byEnds[ends] == descriptor { byEnds[ends] = nil }
        }

        mutating func bury(_ descriptor: Int32) {
            buried += 1
            register(descriptor, 0)
            if dead == nil {
                let socket = ccurl_dead_socket()
                if socket >= 0 { dead = socket }
            }
            if let dead, ccurl_replace_socket(descriptor, dead) >= 0 { return }
            // Without a descriptor to spare: what has come in meanwhile can still be read, but nothing can be sent.
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }
#endif
