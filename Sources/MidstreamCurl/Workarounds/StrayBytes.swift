#if os(Linux)
    internal import CCurl
    import Glibc

    /// libcurl takes what has come on an idle HTTP/1 connection for the answer to the next request there, which may be another user's
    /// (RFC 9112 §9.2). In 7.88.1 and 8.23.0; no version is known to be without it.
    ///
    /// So a connection on which anything comes while it is idle is buried: a socket whose other end is closed takes its place under its
    /// number, so that libcurl finds the connection dead.
    ///
    /// Touched only on the loop's thread.
    struct KeptConnections {
        private struct Connection {
            /// A transfer has ended on it, and no other has begun.
            var isIdle = false
            /// The transfer that was the last to begin on it; nil once that has ended.
            var user: ObjectIdentifier?
            /// HTTP/2 and HTTP/3: the server may speak at any time, and libcurl reads that before it uses the connection again.
            var isShared = false
            /// Its key in ``KeptConnections/byEnds``; nil before its first use.
            var ends: ConnectionEnds?
            /// The URL of the transfer that was the last to end on it.
            var lastURL: String?
        }

        /// By descriptor.
        private var connections: [Connection] = []
        private var byEnds: [ConnectionEnds: Int32] = [:]
        /// Those that haven't been used, and their local ports; zero: not known yet.
        private var newest: [(descriptor: Int32, port: Int32)] = []
        /// The socket that takes the place of others; nil before the first.
        private var dead: Int32?
        /// How many were buried, for the tests.
        private(set) var buried = 0

        mutating func opened(_ descriptor: Int32) {
            while connections.count <= Int(descriptor) { connections.append(Connection()) }
            connections[Int(descriptor)] = Connection()
            newest.append((descriptor, 0))
        }

        mutating func closing(_ descriptor: Int32) {
            guard connections.indices.contains(Int(descriptor)) else { return }
            newest.removeAll { $0.descriptor == descriptor }
            if let ends = connections[Int(descriptor)].ends, byEnds[ends] == descriptor { byEnds[ends] = nil }
            connections[Int(descriptor)] = Connection()
        }

        /// Notes that libcurl waits for the socket, so that it isn't idle.
        mutating func isWanted(_ descriptor: Int32) {
            if connections.indices.contains(Int(descriptor)) { connections[Int(descriptor)].isIdle = false }
        }

        /// Notes that a transfer has succeeded: its connection is idle, unless another transfer has begun on it.
        ///
        /// libcurl's wishes don't show that: it may never have waited for an answer that came at once, and it also stops waiting while the
        /// reader is behind.
        mutating func ended(_ user: ObjectIdentifier, of url: String, on descriptor: Int32, isShared: Bool) {
            guard connections[Int(descriptor)].user == user else { return }
            if isShared { connections[Int(descriptor)].isShared = true }
            connections[Int(descriptor)].isIdle = true
            connections[Int(descriptor)].user = nil
            connections[Int(descriptor)].lastURL = url
        }

        /// Notes that a transfer is about to use a connection.
        ///
        /// - Returns: The connection's socket, if it is known, and whether it can be used. If it can't, it is to be buried: sending fails
        ///   then, and libcurl tries the next one.
        mutating func take(
            for user: ObjectIdentifier, isNew: Bool, localPort: Int32, ends: ConnectionEnds
        ) -> (descriptor: Int32?, isUsable: Bool) {
            // A unix domain socket has no port to be known by.
            guard localPort > 0, let descriptor = isNew ? takeNewest(localPort) : byEnds[ends] else { return (nil, true) }
            // What has come may not have been reported yet.
            let isUsable = isNew || !mustBeSilent(descriptor) || ccurl_is_silent(descriptor) != 0
            if isNew {
                byEnds[ends] = descriptor
                connections[Int(descriptor)].ends = ends
            }
            connections[Int(descriptor)].isIdle = false
            connections[Int(descriptor)].user = user
            return (descriptor, isUsable)
        }

        /// The URL of the last transfer on an idle connection, whatever it is; nil when it isn't idle.
        func lastURL(ofIdle descriptor: Int32) -> String? {
            connections.indices.contains(Int(descriptor)) && connections[Int(descriptor)].isIdle
                ? connections[Int(descriptor)].lastURL : nil
        }

        /// Whether the connection is idle, so that nothing may come on it.
        func mustBeSilent(_ descriptor: Int32) -> Bool {
            guard connections.indices.contains(Int(descriptor)) else { return false }
            let connection = connections[Int(descriptor)]
            return connection.ends != nil && connection.isIdle && !connection.isShared
        }

        /// The one socket with a port among those that haven't been used; nil when there is none, or several that go to different places.
        private mutating func takeNewest(_ port: Int32) -> Int32? {
            var found: Int?
            for place in newest.indices {
                if newest[place].port == 0 { newest[place].port = ccurl_local_port(newest[place].descriptor) }
                guard newest[place].port == port else { continue }
                guard found == nil else { return nil }
                found = place
            }
            guard let found else { return nil }
            newest.swapAt(found, newest.count - 1)
            return newest.removeLast().descriptor
        }

        mutating func bury(_ descriptor: Int32) {
            buried += 1
            if dead == nil {
                let socket = ccurl_dead_socket()
                if socket >= 0 { dead = socket }
            }
            if let dead, ccurl_replace_socket(descriptor, dead) >= 0 { return }
            // Without a descriptor to spare: what has come can still be read, but nothing can be sent.
            shutdown(descriptor, Int32(SHUT_RDWR))
        }

        func close() { if let dead { Glibc.close(dead) } }
    }

    /// A connection's two ends, hashed.
    struct ConnectionEnds: Hashable {
        private let hash: Int

        init(_ remote: UnsafePointer<CChar>?, _ remotePort: Int32, _ local: UnsafePointer<CChar>?, _ localPort: Int32) {
            var hasher = Hasher()
            if let remote { hasher.combine(bytes: UnsafeRawBufferPointer(start: remote, count: strlen(remote))) }
            if let local { hasher.combine(bytes: UnsafeRawBufferPointer(start: local, count: strlen(local))) }
            hasher.combine(remotePort)
            hasher.combine(localPort)
            hash = hasher.finalize()
        }
    }
#endif
