#if os(Linux)
    internal import CCurl
    internal import MidstreamLoop

    /// Which of curl's sockets the loop waits for.
    ///
    /// Curl takes a socket out after each request and puts it in again for the next. To save the two system calls, a socket that
    /// curl itself has opened stays registered until it is closed, and its registration changes only when the wish does. Any other
    /// descriptor (a resolver's) is taken out at once, since its number may come back as something else unseen.
    ///
    /// Touched only on the loop's thread.
    struct SocketWatch {
        private struct Entry {
            /// What the poller watches for; nothing: the socket isn't registered.
            var registered: Readiness = []
            /// What curl waits for.
            var wanted: Readiness = []
            /// Whether curl opened it, and so calls back when it closes it.
            var isCurls = false
        }

        private let poller: Poller
        /// By descriptor.
        private var entries: [Entry] = []
        var kept = KeptConnections()
        /// How many times a registration was changed, for the tests.
        private(set) var changes = 0

        init(_ poller: Poller) { self.poller = poller }

        /// The sockets of connections that stand or are being made.
        var connections: [Int32] { entries.indices.filter { entries[$0].isCurls }.map { Int32($0) } }

        mutating func opened(_ descriptor: Int32) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)] = Entry(isCurls: true)
            kept.opened(descriptor)
        }

        mutating func closing(_ descriptor: Int32) {
            guard entries.indices.contains(Int(descriptor)) else { return }
            register(descriptor, [])
            kept.closing(descriptor)
            entries[Int(descriptor)] = Entry()
        }

        mutating func want(_ descriptor: Int32, _ readiness: Readiness) {
            makeRoom(for: descriptor)
            entries[Int(descriptor)].wanted = readiness
            if !readiness.isEmpty { kept.isWanted(descriptor) }
            if !readiness.isEmpty || !entries[Int(descriptor)].isCurls { register(descriptor, readiness) }
        }

        /// Ends the use of a kept connection on which something has come.
        mutating func bury(_ descriptor: Int32) {
            register(descriptor, [])
            kept.bury(descriptor)
        }

        private mutating func register(_ descriptor: Int32, _ readiness: Readiness) {
            let old = entries[Int(descriptor)].registered
            guard readiness != old else { return }
            changes += 1
            if readiness.isEmpty {
                poller.remove(descriptor)
            } else if old.isEmpty {
                // The number was closed and given again without our notice, or registered twice.
                if !poller.add(descriptor, for: readiness) { poller.change(descriptor, to: readiness) }
            } else if !poller.change(descriptor, to: readiness) {
                poller.add(descriptor, for: readiness)
            }
            entries[Int(descriptor)].registered = readiness
        }

        private mutating func makeRoom(for descriptor: Int32) {
            while entries.count <= Int(descriptor) { entries.append(Entry()) }
        }

        /// What a socket's readiness means in curl's terms; zero: nothing that anyone wants.
        mutating func meaning(of readiness: Readiness, on descriptor: Int32) -> Int32 {
            var meaning: Int32 = 0
            if !readiness.isDisjoint(with: [.reading, .hungUp]) { meaning |= CURL_CSELECT_IN }
            if readiness.contains(.writing) { meaning |= CURL_CSELECT_OUT }
            if readiness.contains(.failed) { meaning |= CURL_CSELECT_ERR }
            guard entries.indices.contains(Int(descriptor)), entries[Int(descriptor)].wanted.isEmpty else { return meaning }
            let mustBeSilent = kept.mustBeSilent(descriptor)
            if mustBeSilent, meaning == CURL_CSELECT_OUT {
                register(descriptor, .reading)
            } else if mustBeSilent {
                bury(descriptor)
            } else {
                // It would be reported again and again.
                register(descriptor, [])
            }
            return 0
        }

        func close() { kept.close() }
    }
#endif
