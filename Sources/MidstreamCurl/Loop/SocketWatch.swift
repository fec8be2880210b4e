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
        private struct Entry {
            /// What epoll watches for; zero: the socket isn't registered.
            var registered: UInt32 = 0
            /// What curl waits for.
            var wanted: UInt32 = 0
            /// Whether curl opened it, and so calls back when it closes it.
            var isCurls = false
        }

        private static let capacity = 256
        private let epoll: Int32
        /// By descriptor.
        private var entries: [Entry] = []
        var kept = KeptConnections()
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
        private var ready = 0
        /// How many times a registration was changed, for the tests.
        private(set) var changes = 0

        init(epoll: Int32) { self.epoll = epoll }

        mutating func opened(_ descriptor: Int32) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)] = Entry(isCurls: true)
            kept.opened(descriptor)
        }

        mutating func closing(_ descriptor: Int32) {
            guard entries.indices.contains(Int(descriptor)) else { return }
            register(descriptor, 0)
            kept.closing(descriptor)
            entries[Int(descriptor)] = Entry()
        }

        mutating func want(_ descriptor: Int32, _ mask: UInt32) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)].wanted = mask
            if mask != 0 { kept.isWanted(descriptor) }
            if mask != 0 || !entries[Int(descriptor)].isCurls { register(descriptor, mask) }
        }

        /// Ends the use of a kept connection on which something has come.
        mutating func bury(_ descriptor: Int32) {
            register(descriptor, 0)
            kept.bury(descriptor)
        }

        private mutating func register(_ descriptor: Int32, _ mask: UInt32) {
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
                let mustBeSilent = kept.mustBeSilent(descriptor)
                if mustBeSilent, meaning == CURL_CSELECT_OUT {
                    register(descriptor, EPOLLIN.rawValue)
                } else if mustBeSilent {
                    bury(descriptor)
                } else {
                    // It would be reported again and again.
                    register(descriptor, 0)
                }
                meaning = 0
            }
            return (descriptor, meaning)
        }

        func close() {
            Glibc.close(epoll)
            kept.close()
            events.deallocate()
        }
    }
#endif
