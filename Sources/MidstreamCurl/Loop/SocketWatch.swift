#if Curl && os(Linux)
    internal import CCurl
    import Glibc

    /// Which sockets the loop waits for, by epoll.
    ///
    /// Curl takes a socket out after each request and puts it in again for the next. To save the two system calls, a socket that
    /// curl itself has opened stays registered until it is closed, and its registration changes only when the wish does. Any other
    /// descriptor (a resolver's) is taken out at once, since its number may come back as something else unseen.
    ///
    /// Touched only on the loop's thread.
    struct SocketWatch {
        struct Entry {
            /// What epoll has been told to watch for; zero: it doesn't know the socket.
            var registered: UInt32 = 0
            /// What curl wants to know.
            var wanted: UInt32 = 0
            /// Whether curl opened it and will tell when it closes it.
            var isCurls = false
            /// A transfer has ended on the connection, and no other has begun.
            var isIdle = false
            /// The transfer that was the last to begin on the connection; nil once it has ended.
            var lastUser: ObjectIdentifier?
            /// HTTP/2: the server may speak at any time, and curl listens to it before it uses the connection again.
            var isShared = false
            /// By what ``SocketWatch/byEnds`` knows it.
            var ends: ConnectionEnds?
        }

        private static let capacity = 256
        private let epoll: Int32
        var entries: [Entry] = []
        /// The sockets of connections that have been used.
        var byEnds: [ConnectionEnds: Int32] = [:]
        /// Those that haven't, and their ports on this side; zero: not known yet.
        var newest: [(descriptor: Int32, port: Int32)] = []
        /// What takes the place of a connection that mustn't be used any more; nil before the first.
        var dead: Int32?
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
        private var ready = 0
        /// How many changes epoll has been told: what the tests look at.
        private(set) var changes = 0
        /// How many kept connections were found unusable: what the tests look at.
        var buried = 0

        init(epoll: Int32) { self.epoll = epoll }

        mutating func opened(_ descriptor: Int32) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)] = Entry(isCurls: true)
            newest.append((descriptor, 0))
        }

        mutating func closing(_ descriptor: Int32) {
            guard entries.indices.contains(Int(descriptor)) else { return }
            register(descriptor, 0)
            forget(descriptor)
            entries[Int(descriptor)] = Entry()
        }

        mutating func want(_ descriptor: Int32, _ mask: UInt32) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)].wanted = mask
            if mask != 0 { entries[Int(descriptor)].isIdle = false }
            if mask != 0 || !entries[Int(descriptor)].isCurls { register(descriptor, mask) }
        }

        mutating func register(_ descriptor: Int32, _ mask: UInt32) {
            let old = entries[Int(descriptor)].registered
            guard mask != old else { return }
            let operation = mask == 0 ? EPOLL_CTL_DEL : old == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
            changes += 1
            if ccurl_epoll_control(epoll, operation, descriptor, mask) != 0, operation != EPOLL_CTL_DEL {
                // The number was closed and given again without our notice, or registered twice.
                _ = ccurl_epoll_control(epoll, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, mask)
            }
            entries[Int(descriptor)].registered = mask
        }

        private mutating func makeRoom(for descriptor: Int32) {
            while entries.count <= Int(descriptor) { entries.append(Entry()) }
        }

        /// Waits until a socket is ready or the time has come; `.max`: without limit.
        mutating func wait(until time: UInt64) {
            var timeout: Int32 = -1
            if time != .max {
                let now = time == 0 ? 0 : MonotonicTime.now()
                timeout = time <= now ? 0 : Int32(min((time - now + 999_999) / 1_000_000, UInt64(Int32.max)))
            }
            ready = max(0, Int(epoll_wait(epoll, events, Int32(Self.capacity), timeout)))
        }

        /// How many sockets were ready at the end of the last wait.
        var readyCount: Int { ready }

        /// The ready socket at a place, and what it is ready for in curl's terms; zero: for nothing that anyone wants.
        mutating func event(at place: Int) -> (descriptor: Int32, mask: Int32) {
            let descriptor = ccurl_event_descriptor(events + place)
            let mask = ccurl_event_mask(events + place)
            var meaning: Int32 = 0
            if mask & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { meaning |= CURL_CSELECT_IN }
            if mask & EPOLLOUT.rawValue != 0 { meaning |= CURL_CSELECT_OUT }
            if mask & EPOLLERR.rawValue != 0 { meaning |= CURL_CSELECT_ERR }
            if entries.indices.contains(Int(descriptor)), entries[Int(descriptor)].wanted == 0 {
                if meaning == CURL_CSELECT_OUT, mustBeSilent(descriptor) {
                    register(descriptor, EPOLLIN.rawValue)
                } else {
                    // Without this it would say the same for ever.
                    register(descriptor, 0)
                    if mustBeSilent(descriptor) { bury(descriptor) }
                }
                meaning = 0
            }
            return (descriptor, meaning)
        }

        func close() {
            Glibc.close(epoll)
            if let dead { Glibc.close(dead) }
            events.deallocate()
        }
    }
#endif
