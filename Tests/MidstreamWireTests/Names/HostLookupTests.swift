#if os(Linux)
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HostLookupTests {
        private func isKnown(_ host: String, port: UInt16 = 80, to lookup: HostLookup) -> Bool {
            if case .some = lookup.known(host, port: port) { true } else { false }
        }

        private func find(_ host: String, in lookup: HostLookup) async -> HostLookup.Found {
            await withCheckedContinuation { continuation in
                _ = lookup.find(host, port: 80) { continuation.resume(returning: $0) }
            }
        }

        @Test func `One lookup serves all who ask for a host meanwhile`() async throws {
            let (gate, asked, answers) = (Gate(), Locked(0), Locked<[HostLookup.Found]>([]))
            let resolver: HostLookup.Resolver = { _ in
                asked.withLock { $0 += 1 }
                await gate.wait()
                return ["127.0.0.1"]
            }
            let lookup = HostLookup(resolver)
            for host in Array(repeating: "h.invalid", count: 10) + ["i.invalid"] {
                _ = lookup.find(host, port: 80) { found in answers.withLock { $0.append(found) } }
            }
            await gate.reached(by: 2)
            gate.open()
            await eventually { answers.withLock { $0.count } == 11 }
            let address = try #require(HostAddress(literal: "127.0.0.1", port: 80))
            for found in answers.withLock({ $0 }) { #expect(try found.get() == [address]) }
            #expect(asked.withLock { $0 } == 2)
            // What a resolver says is good for these alone.
            #expect(!isKnown("h.invalid", to: lookup))
            _ = await find("h.invalid", in: lookup)
            #expect(asked.withLock { $0 } == 3)
        }

        @Test func `A resolver is asked anew when all have given up who waited for it`() async throws {
            let resolver = HoldingResolver(holding: 1)
            defer { resolver.gate.open() }
            let lookup = HostLookup(resolver.addresses)
            let asking = lookup.find("h.invalid", port: 80) { _ in }
            await resolver.gate.reached()
            lookup.giveUp(asking)
            let address = try #require(HostAddress(literal: "127.0.0.1", port: 80))
            #expect(try await find("h.invalid", in: lookup).get() == [address])
        }

        /// Notes when nobody has it any more.
        private final class Failure: Error {
            private let isGone: Locked<Bool>
            init(_ isGone: Locked<Bool>) { self.isGone = isGone }
            deinit { isGone.withLock { $0 = true } }
        }

        @Test func `A call of a resolver that all have given up doesn't fail for those who ask anew`() async throws {
            let (gates, calls, isGone) = ([Gate(), Gate()], Locked(0), Locked(false))
            let resolver: HostLookup.Resolver = { _ in
                let call = calls.increment()
                await gates[call - 1].wait()
                if call == 1 { throw Failure(isGone) }
                return ["127.0.0.1"]
            }
            let lookup = HostLookup(resolver)
            let asking = lookup.find("h.invalid", port: 80) { _ in }
            await gates[0].reached()
            lookup.giveUp(asking)
            let answers = Locked<[HostLookup.Found]>([])
            _ = lookup.find("h.invalid", port: 80) { found in answers.withLock { $0.append(found) } }
            await gates[1].reached()
            gates[0].open()
            await eventually { isGone.withLock { $0 } || !answers.withLock { $0.isEmpty } }
            gates[1].open()
            await eventually { !answers.withLock { $0.isEmpty } }
            let address = try #require(HostAddress(literal: "127.0.0.1", port: 80))
            for found in answers.withLock({ $0 }) { #expect(try found.get() == [address]) }
        }

        @Test func `Names below localhost are this machine's`() async throws {
            let own = ["127.0.0.1", "::1"].compactMap { HostAddress(literal: $0, port: 80) }
            let found = try await find("A.localhost", in: HostLookup()).get()
            #expect(!found.isEmpty && found.allSatisfy(own.contains))
        }

        /// A label has 63 bytes at most, so that nobody is asked for one of 64.
        @Test(arguments: [("localhost", 60), (String(repeating: "a", count: 64), 1)] as [(String, UInt64)])
        func `The system's addresses are kept for a minute, and that there are none for a second`(
            _ host: String, _ seconds: UInt64
        ) async {
            let time = Locked<UInt64>(7)
            let lookup = HostLookup(now: { time.withLock { $0 } })
            #expect(!isKnown(host, to: lookup))
            let found = await find(host, in: lookup)
            #expect((try? found.get().isEmpty) == (seconds == 60 ? false : nil))
            time.withLock { $0 += seconds * 1_000_000_000 - 1 }
            #expect(isKnown(host, to: lookup))
            #expect(!isKnown(host, port: 81, to: lookup))
            time.withLock { $0 += 1 }
            #expect(!isKnown(host, to: lookup))
        }

        private enum Local {
            @TaskLocal static var isSet = false
        }

        @Test func `A resolver is asked in nobody's task, since others may wait as well`() async {
            let isSet = Locked<Bool?>(nil)
            let resolver: HostLookup.Resolver = { _ in
                isSet.withLock { $0 = Local.isSet }
                return ["127.0.0.1"]
            }
            let lookup = HostLookup(resolver)
            _ = await Local.$isSet.withValue(true) { await find("h.invalid", in: lookup) }
            #expect(isSet.withLock { $0 } == false)
        }

        @Test(arguments: [false, true])
        func `A host that can't be connected to is looked up anew, but not within a second`(_ isByProxy: Bool) async throws {
            let proxy = try RawServer { connection in
                guard connection.read(3) != nil, connection.write([5, 0]), connection.readSome() != nil else { return }
                // It can't reach the host.
                connection.write([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
            }
            var configuration = TransportConfiguration()
            if isByProxy { configuration.proxy = .socks5("socks5://127.0.0.1:\(proxy.port)") }
            let time = Locked<UInt64>(7)
            let lookups = Locked(0)
            let lookup = HostLookup(
                now: { time.withLock { $0 } },
                start: { body in
                    lookups.withLock { $0 += 1 }
                    body()
                    return 0
                })
            let transport = wireTransport(WireSettings(configuration, lookup: lookup))
            for count in [1, 2] {
                let error = await httpError { try await transport.deliver(request("http://localhost:1/", .buffered(upTo: 10))) }
                #expect(error?.code == (isByProxy ? .proxy : .connection))
                #expect(lookups.withLock { $0 } == count)
                time.withLock { $0 += 1_000_000_000 }
            }
        }

        @Test func `What was found serves on while it is looked up anew, and when that is in vain`() async throws {
            let (time, lacksThreads, lookups) = (Locked<UInt64>(7), Locked(false), Locked(0))
            let lookup = HostLookup(
                now: { time.withLock { $0 } },
                start: { body in
                    lookups.withLock { $0 += 1 }
                    guard !lacksThreads.withLock({ $0 }) else { return EAGAIN }
                    body()
                    return 0
                })
            let found = try await find("localhost", in: lookup).get()
            time.withLock { $0 += 1_000_000_000 }
            lacksThreads.withLock { $0 = true }
            lookup.doubt("localhost", port: 80)
            #expect(isKnown("localhost", to: lookup) && lookups.withLock { $0 } == 2)
            // Once a second, whatever becomes of it.
            lookup.doubt("localhost", port: 80)
            #expect(lookups.withLock { $0 } == 2)
            #expect(try await find("localhost", in: lookup).get() == found)
            time.withLock { $0 += 59_000_000_000 }
            #expect(isKnown("localhost", to: lookup))
            // An hour more at most.
            time.withLock { $0 += 3_600_000_000_000 }
            lookup.doubt("localhost", port: 80)
            #expect(!isKnown("localhost", to: lookup))
        }

        /// RFC 8305 §4.
        @Test func `The families of a host's addresses take turns, the preferred one first`() throws {
            let addresses = try ["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"].map {
                try #require(HostAddress(literal: $0, port: 80))
            }
            #expect(
                HostLookup.alternating(addresses).map { $0.text?.address }
                    == ["::1", "127.0.0.1", "::2", "127.0.0.2", "::3"])
        }
    }
#endif
