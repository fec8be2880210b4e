#if os(Linux)
    internal import CLinux
    import Glibc

    /// What a descriptor is ready for, in epoll's terms.
    public struct Readiness: OptionSet, Sendable {
        /// epoll's flags.
        public let rawValue: UInt32

        /// Takes epoll's flags.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let reading = Readiness(rawValue: EPOLLIN.rawValue)
        package static let writing = Readiness(rawValue: EPOLLOUT.rawValue)
        /// The other end won't write any more.
        package static let ended = Readiness(rawValue: EPOLLRDHUP.rawValue)
        package static let hungUp = Readiness(rawValue: EPOLLHUP.rawValue)
        package static let failed = Readiness(rawValue: EPOLLERR.rawValue)
        /// A wish: to be told of changes alone, not again and again.
        package static let edges = Readiness(rawValue: EPOLLET.rawValue)
    }

    /// The descriptors that a loop waits for, by epoll.
    ///
    /// Touched only on the loop's thread, but for ``isUsable``.
    package final class Poller {
        private static let capacity = 256
        private let epoll = clinux_epoll()
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
        /// How many descriptors were ready at the end of the last wait.
        package private(set) var readyCount = 0

        package init() {}

        deinit {
            if epoll >= 0 { close(epoll) }
            events.deallocate()
        }

        /// False when the system has no descriptor to spare.
        package var isUsable: Bool { epoll >= 0 }

        /// Has a descriptor watched that isn't; false when it is, and for want of memory.
        @discardableResult
        package func add(_ descriptor: Int32, for readiness: Readiness) -> Bool {
            clinux_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, readiness.rawValue) == 0
        }

        /// Has a watched descriptor watched for something else; false when it isn't watched.
        @discardableResult
        package func change(_ descriptor: Int32, to readiness: Readiness) -> Bool {
            clinux_epoll_control(epoll, EPOLL_CTL_MOD, descriptor, readiness.rawValue) == 0
        }

        package func remove(_ descriptor: Int32) { _ = clinux_epoll_control(epoll, EPOLL_CTL_DEL, descriptor, 0) }

        /// Waits until a descriptor is ready or the time of the monotonic clock has come; zero: not at all, `.max`: without limit.
        package func wait(until time: UInt64) {
            var timeout: Int32 = -1
            if time != .max {
                let now = time == 0 ? 0 : MonotonicTime.now()
                timeout = time <= now ? 0 : Int32(min((time - now + 999_999) / 1_000_000, UInt64(Int32.max)))
            }
            readyCount = max(0, Int(epoll_wait(epoll, events, Int32(Self.capacity), timeout)))
        }

        /// Whether more descriptors may have been ready than the last wait could tell.
        var isFull: Bool { readyCount == Self.capacity }

        package func event(at place: Int) -> (descriptor: Int32, readiness: Readiness) {
            (clinux_event_descriptor(events + place), Readiness(rawValue: clinux_event_mask(events + place)))
        }
    }
#endif
