#if os(Linux)
    import Glibc
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamLoop
    internal import MidstreamPlatform

    /// Finds the addresses of hosts, by the system's resolver on a few threads of its own, or by one that the configuration has.
    ///
    /// What the system's has found is kept for a minute, and that there is nothing to be found for a second; that it couldn't tell isn't kept,
    /// so that a retry asks again. What leads nowhere is looked up anew, and serves on until that has found something. A lookup that is under
    /// way serves all that ask for it. What nobody waits for any more before a thread has begun with it isn't looked up.
    ///
    /// Addresses serve an hour longer where a new lookup would have to wait for others, which nobody can end, or the last one couldn't tell
    /// (RFC 8767 §4). They are looked up behind that.
    final class HostLookup: Sendable {
        typealias Found = Result<[HostAddress], HTTPError>

        /// A pending lookup.
        struct Asking {
            fileprivate let key: String
            fileprivate let number: Int
        }

        /// Those who wait for the addresses of a host.
        private struct Asked {
            /// The number of the first, which is that of the call for all.
            let call: Int
            /// By their numbers; none when all have given up on the system's resolver.
            var waiting: [Int: @Sendable (Found) -> Void] = [:]
        }

        private struct Kept {
            let found: Found
            /// When it was looked up last, even if in vain.
            var asked: UInt64
            let until: UInt64
            /// Whether the last lookup could tell nothing.
            var isUncertain = false

            /// Whether it may serve where nothing newer can be had.
            func isLastResort(at now: UInt64) -> Bool {
                if case .success = found { until + HostLookup.servesOnFor > now } else { false }
            }
        }

        private struct State {
            var kept: [String: Kept] = [:]
            var asked: [String: Asked] = [:]
            var lastNumber = 0
            /// Those that no thread has begun with.
            var waiting = Queue<String>()
            var threads = 0
        }

        /// In nanoseconds.
        private static let keptFor: UInt64 = 60_000_000_000
        private static let failureKeptFor: UInt64 = 1_000_000_000
        private static let servesOnFor: UInt64 = 3_600_000_000_000
        /// From so many on old addresses serve.
        private static let busyThreads = 4
        /// Names that nobody answers for keep a thread for many seconds each.
        static let mostThreads = 64
        private static let mostKept = 4_096

        typealias Resolver = @Sendable (_ host: String) async throws -> [String]

        private let resolver: Resolver?
        private let now: @Sendable () -> UInt64
        private let start: @Sendable (_ body: @escaping @Sendable () -> Void) -> Int32
        private let state = Locked(State())

        /// - Parameters:
        ///   - resolver: Nil: the system's.
        ///   - start: Runs its argument on a thread of its own; gives the system's error, or zero.
        init(
            _ resolver: Resolver? = nil, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now() },
            start: @escaping @Sendable (_ body: @escaping @Sendable () -> Void) -> Int32 = { DetachedThread.start($0) }
        ) {
            self.resolver = resolver
            self.now = now
            self.start = start
        }

        /// What is known of a host; nil: it has to be looked up.
        func known(_ host: String, port: UInt16) -> Found? {
            if let address = HostAddress(literal: host, port: port) { return .success([address]) }
            let (found, isOld) = state.withLock { state -> (Found?, Bool) in
                let now = self.now()
                guard let kept = state.kept["\(host):\(port)"] else { return (nil, false) }
                if kept.until > now { return (kept.found, false) }
                // What the last lookup said holds for as long as if it had found something.
                let isFutile = kept.isUncertain && kept.asked + Self.keptFor > now || state.threads >= Self.busyThreads
                return isFutile && kept.isLastResort(at: now) ? (kept.found, true) : (nil, false)
            }
            if isOld { doubt(host, port: port) }
            return found
        }

        /// Has a host looked up anew that may be elsewhere by now, such as one that couldn't be connected to, unless that was done within the
        /// last second.
        func doubt(_ host: String, port: UInt16) {
            let key = "\(host):\(port)"
            let isOld = state.withLock { state in
                let now = self.now()
                guard let kept = state.kept[key], kept.asked + Self.failureKeptFor <= now else { return false }
                state.kept[key]?.asked = now
                return true
            }
            if isOld { _ = find(host, port: port) { _ in } }
        }

        /// Looks a host up. The answer comes on another thread.
        func find(_ host: String, port: UInt16, _ answer: @escaping @Sendable (Found) -> Void) -> Asking {
            let key = "\(host):\(port)"
            let (number, isFirst) = state.withLock { state in
                state.lastNumber += 1
                let (number, isFirst) = (state.lastNumber, state.asked[key] == nil)
                state.asked[key, default: Asked(call: number)].waiting[number] = answer
                return (number, isFirst)
            }
            if isFirst { begin(host, port, for: key, as: number) }
            return Asking(key: key, number: number)
        }

        /// Cancels a pending lookup.
        func giveUp(_ asking: Asking) {
            // Let go of outside of the lock.
            _ = state.withLock { state in
                // A resolver may never answer; whoever asks next isn't to wait for that.
                defer { if resolver != nil, state.asked[asking.key]?.waiting.isEmpty == true { state.asked[asking.key] = nil } }
                return state.asked[asking.key]?.waiting.removeValue(forKey: asking.number)
            }
        }

        private func begin(_ host: String, _ port: UInt16, for key: String, as call: Int) {
            if let resolver { return ask(resolver, host, port, for: key, as: call) }
            let mustStart = state.withLock { state in
                state.waiting.append(key)
                guard state.threads < Self.mostThreads else { return false }
                state.threads += 1
                return true
            }
            if mustStart { startThread() }
        }

        private func ask(_ resolver: @escaping Resolver, _ host: String, _ port: UInt16, for key: String, as call: Int) {
            // In nobody's call, since it may be for several.
            Task.detached { [self] in
                let found: Found
                do {
                    let addresses = try await resolver(host).compactMap { HostAddress(literal: $0, port: port) }
                    found =
                        addresses.isEmpty
                        ? .failure(
                            HTTPError(.nameResolution, "The resolver knows no address of the host \(host).", phase: .notSent))
                        : .success(addresses)
                } catch {
                    found = .failure(
                        HTTPError(
                            .nameResolution, "The resolver failed for the host \(host): \(type(of: error)).", underlying: error,
                            phase: .notSent))
                }
                answer(found, for: key, of: call)
            }
        }

        private func startThread() {
            let status = start { [self] in work() }
            guard status != 0 else { return }
            let goesToAnother = state.withLock { state in
                guard state.threads > 1 else { return false }
                state.threads -= 1
                return true
            }
            if goesToAnother { return }
            // Whoever asked has to hear of it.
            while let key = next() { keep(.failure(HTTPError.noResources(status)), isCertain: false, for: key) }
        }

        /// Looks up what is asked for until there is nothing more.
        private func work() {
            while let key = next() {
                let colon = key.lastIndex(of: ":") ?? key.endIndex
                let host = String(key[..<colon])
                let (found, isCertain) = Self.addresses(of: host, port: String(key[colon...].dropFirst()))
                keep(found, isCertain: isCertain, for: key)
            }
        }

        private func next() -> String? {
            state.withLock { state in
                while let key = state.waiting.popFirst() {
                    if state.asked[key]?.waiting.isEmpty == false { return key }
                    state.asked[key] = nil
                }
                state.threads -= 1
                return nil
            }
        }

        private func keep(_ found: Found, isCertain: Bool, for key: String) {
            let error: HTTPError? = if case .failure(let error) = found { error } else { nil }
            let best = state.withLock { state -> Found in
                let now = self.now()
                if error != nil, let old = state.kept[key], old.until > now || !isCertain && old.isLastResort(at: now) {
                    state.kept[key] = Kept(found: old.found, asked: now, until: old.until, isUncertain: !isCertain)
                    return old.found
                }
                if !isCertain { return found }
                if state.kept.count >= Self.mostKept {
                    state.kept = state.kept.filter { $0.value.until > now }
                    if state.kept.count >= Self.mostKept { state.kept = [:] }
                }
                state.kept[key] = Kept(
                    found: found, asked: now, until: now + (error == nil ? Self.keptFor : Self.failureKeptFor))
                return found
            }
            answer(best, for: key)
        }

        /// - Parameter call: Nil: the only one for the key.
        private func answer(_ found: Found, for key: String, of call: Int? = nil) {
            let asked = state.withLock { state -> Asked? in
                // Where a call fails that all have given up, another is under way for those who ask now.
                if case .failure = found, let call, state.asked[key]?.call != call { return nil }
                return state.asked.removeValue(forKey: key)
            }
            for (_, answer) in (asked?.waiting ?? [:]).sorted(by: { $0.key < $1.key }) { answer(found) }
        }

        /// - Returns: Also whether that says something of the host: not where the resolver couldn't tell, or the system lacked something.
        private static func addresses(of host: String, port: String) -> (found: Found, isCertain: Bool) {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = AI_NUMERICSERV
            var list: UnsafeMutablePointer<addrinfo>?
            let status = getaddrinfo(host, port, &hints, &list)
            defer { if let list { freeaddrinfo(list) } }
            var addresses: [HostAddress] = []
            var entry = status == 0 ? list : nil
            while let found = entry {
                if let address = found.pointee.ai_addr.flatMap({ HostAddress($0, length: found.pointee.ai_addrlen) }),
                    !addresses.contains(address)
                {
                    addresses.append(address)
                }
                entry = found.pointee.ai_next
            }
            guard addresses.isEmpty else { return (.success(alternating(addresses)), true) }
            if let lack = lackOfDescriptors() { return (.failure(HTTPError.noResources(lack)), false) }
            let isCertain = ![EAI_AGAIN, EAI_FAIL, EAI_SYSTEM, EAI_MEMORY].contains(status)
            // Such names are this machine's (RFC 6761 §6.3), which many systems know of the last part alone.
            if [".localhost", ".localhost."].contains(where: host.lowercased().hasSuffix) {
                return (Self.addresses(of: "localhost", port: port).found, isCertain)
            }
            let reason = status == 0 ? "it has no address" : String(cString: gai_strerror(status))
            let error = HTTPError(.nameResolution, "The host \(host) can't be found: \(reason).", phase: .notSent)
            return (.failure(error), isCertain)
        }

        /// Why the system can open nothing; nil: it can. Where it can't, no host is found either, and glibc says no more than that.
        static func lackOfDescriptors() -> Int32? {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor < 0 else {
                close(descriptor)
                return nil
            }
            return errno == EMFILE || errno == ENFILE ? errno : nil
        }

        /// By turns of either family, beginning with the one that the system prefers (RFC 8305 §4).
        static func alternating(_ addresses: [HostAddress]) -> [HostAddress] {
            guard let preferred = addresses.first?.family else { return [] }
            var first = addresses.filter { $0.family == preferred }[...]
            var second = addresses.filter { $0.family != preferred }[...]
            var mixed: [HostAddress] = []
            while !first.isEmpty || !second.isEmpty {
                if let next = first.popFirst() { mixed.append(next) }
                if let next = second.popFirst() { mixed.append(next) }
            }
            return mixed
        }
    }
#endif
