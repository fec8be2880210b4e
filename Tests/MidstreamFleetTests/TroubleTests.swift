#if os(Linux)
    import Foundation
    import Interception
    import MidstreamAuthentication
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// Whatever Redis does, calls go on.
    @Suite("A fleet whose Redis is in trouble", .leavesNothing, .timeLimit(.minutes(10)))
    struct TroubleTests {
        private func reserves(_ fleet: Fleet) async throws -> Bool {
            try await fleet.quota("q", perSecond: 1e6).reserve(for: "k", waitingAtMost: .zero) == .sends(after: .zero)
        }

        @Test("goes on, says why, and comes back")
        func comesBack() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet(patience: .milliseconds(20))
            let troubles: [(@Sendable () async throws -> Void, @Sendable () async throws -> Void)] = [
                ({ server.pause() }, { server.resume() }),
                ({ await server.kill() }, { try await server.start() }),
                (
                    { try await server.command(["REPLICAOF", "127.0.0.1", "1"]) },
                    { try await server.command(["REPLICAOF", "NO", "ONE"]) }
                ),
                (
                    { try await server.command(["CONFIG", "SET", "maxmemory", "1"]) },
                    { try await server.command(["CONFIG", "SET", "maxmemory", "0"]) }
                ),
                ({ try await server.command(["SCRIPT", "FLUSH"]) }, {}),
                ({ try await server.command(["CLIENT", "KILL", "TYPE", "normal"]) }, {}),
            ]
            #expect(try await reserves(fleet))
            for (number, (begin, end)) in troubles.enumerated() {
                await eventually {
                    let isGranted = try? await reserves(fleet)
                    return !fleet.state.isDegraded && isGranted == true
                }
                try await begin()
                if number < 4 {
                    await eventually {
                        let isGranted = try? await reserves(fleet)
                        #expect(isGranted == true)
                        return fleet.state.isDegraded
                    }
                    guard case .degraded(_, let reason) = fleet.state.connection else { continue }
                    #expect(!reason.isEmpty && "\(fleet.state)".contains(reason))
                }
                #expect(try await reserves(fleet))
                try await end()
                await eventually {
                    _ = try? await reserves(fleet)
                    return !fleet.state.isDegraded && fleet.core.degradation == nil
                }
            }
        }

        @Test("asks by itself whether Redis is there when one call had no answer")
        func probe() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet(patience: .milliseconds(20), probe: .milliseconds(20))
            await eventually {
                _ = try? await reserves(fleet)
                if case .connected = fleet.state.connection { return true }
                return false
            }
            server.pause()
            #expect(try await reserves(fleet))
            await eventually { fleet.state.isDegraded }
            server.resume()
            await eventually { !fleet.state.isDegraded }
        }

        @Test(
            "goes on when the server is none",
            arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "", "$-7\r\n", ":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n"])
        func garbage(text: String) async throws {
            let server = try RawServer { connection in
                if !text.isEmpty { _ = connection.write(text) }
                connection.waitForEnd()
            }
            let fleet = try Fleet(
                .redis("redis://127.0.0.1:\(server.port)"), name: "f", patience: .milliseconds(20), key: testKey)
            await eventually {
                #expect((try? await reserves(fleet)) == true)
                return fleet.state.isDegraded
            }
            fleet.close()
            withExtendedLifetime(server) {}
        }

        /// A connection on which nothing comes but its end.
        private struct Ending: ByteChannel {
            let executor = QueueExecutor()
            let isReadThere = Locked<Bool?>(nil)

            nonisolated(nonsending) func read() async throws -> [UInt8]? {
                isReadThere.withLock { $0 = executor.isCurrent }
                return nil
            }
            nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {}
            func close() {}
            var arrivals: CallersExecutor? { CallersExecutor(executor) }
        }

        @Test("isn't taken for one by a process that is busy: replies are read where they arrive")
        func busyProcess() async throws {
            let (channel, end) = (Ending(), Suspension<Void>())
            let connection = RedisConnection(channel) { _ in end.resume() }
            await end.value()
            #expect(channel.isReadThere.withLock { $0 } == true)
            withExtendedLifetime(connection) {}
            // And the channels that Redis is spoken to by say where that is.
            let server = try await RedisServer()
            let transport = wireTransport()
            let origin = try #require(HTTPOrigin("http://localhost:\(server.port)"))
            let real = try await transport.connect(to: origin, tls: nil, timeout: .seconds(60))
            #expect(real.arrivals != nil)
            real.close()
        }

        @Test("isn't taken for one when many calls have no answer at the same time, which is one failure")
        func oneMoment() async throws {
            let server = try await RedisServer()
            let (port, clock, isHeld, opened) = (server.port, TestClock(), Locked(false), DispatchSemaphore(value: 0))
            defer { opened.signal() }
            let way = try RawServer { connection in
                connection.relay(to: port) { _ in
                    if isHeld.withLock({ $0 }) {
                        opened.wait()
                        opened.signal()
                    }
                    return true
                }
            }
            let fleet = try Fleet(
                .redis("redis://localhost:\(way.port)"), name: "test", patience: .milliseconds(20), members: 1, key: testKey,
                clock: clock, limits: RedisLink.Limits(heartbeat: .seconds(1e9), probe: .seconds(1e9)))
            Belongings.current?.add(fleet.core)
            #expect(try await reserves(fleet))
            isHeld.withLock { $0 = true }
            let (rate, answered) = (QuotaRate(interval: 1, burst: 1_000), Locked(0))
            let asking = Task {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            defer { answered.withLock { $0 += 1 } }
                            return await fleet.core.store.reserve("q", rate, waitingAtMost: .zero) == .failure(.timedOut)
                        }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
            }
            // And what waits for its turn to ask for a sign of life.
            await clock.waitForSleepers(11)
            await eventually {
                clock.advance(by: .milliseconds(20))
                return answered.withLock { $0 } == 10
            }
            #expect(await asking.value == 10)
            #expect(!fleet.state.isDegraded && fleet.core.degradation != nil)
            opened.signal()
            #expect(try await reserves(fleet))
            #expect(fleet.core.degradation == nil && !fleet.state.isDegraded)
            withExtendedLifetime((server, way)) {}
        }

        @Test("isn't taken for one by what puts back tokens, for which no call waits")
        func puttingBack() async throws {
            let server = try await RedisServer()
            // No answer comes in time for a call.
            let fleet = try server.fleet(patience: .zero)
            let tokens = (0..<20).map { fleet.core.sharedToken("t\($0)") }
            for token in tokens { _ = token.held(for: Issuer().first) }
            #expect(try await reserves(fleet))
            await eventually { (try? await server.command(["KEYS", "*:t:*"]).elements?.count) == tokens.count }
            #expect(fleet.core.degradation == nil)
        }

        /// A way to a server on which bodies are held up until it is opened: each connection over which more comes than everything else is.
        /// With no bytes that pass, that is everything.
        private final class Narrows: Sendable {
            private let opened: DispatchSemaphore
            private let held: Locked<Bool>
            private let way: RawServer

            init(before server: RedisServer, passing most: Int = 200_000) throws {
                let (port, opened, held) = (server.port, DispatchSemaphore(value: 0), Locked(false))
                (self.opened, self.held) = (opened, held)
                way = try RawServer { connection in
                    var passed = 0
                    connection.relay(to: port) { bytes in
                        passed += bytes.count
                        guard passed > most else { return true }
                        held.withLock { $0 = true }
                        opened.wait()
                        opened.signal()
                        return true
                    }
                }
            }

            var url: String { "redis://localhost:\(way.port)" }
            var isReached: Bool { held.withLock { $0 } }
            func open() { opened.signal() }
        }

        @Test("is waited for by a token until the first connection is made, and by nothing else")
        func slowBeginning() async throws {
            let server = try await RedisServer()
            let (narrows, clock, issuer) = (try Narrows(before: server, passing: 0), TestClock(), Issuer())
            defer { narrows.open() }
            let token = try await server.fleet().sharing(issuer.authenticator(), as: "t").refresh(nil)
            let fleet = try Fleet(
                .redis(narrows.url), name: "test", patience: .milliseconds(20), members: 1, key: testKey, clock: clock,
                limits: RedisLink.Limits(beginning: .seconds(86_400), heartbeat: .seconds(1e9), probe: .seconds(1e9)))
            Belongings.current?.add(fleet.core)
            let shared = fleet.sharing(issuer.authenticator(), as: "t")
            let refreshing = Task { try await shared.refresh(issuer.first) }
            await eventually { narrows.isReached }
            // One that is needed only when others have waited in vain waits, too.
            let (isAsked, name) = (Locked(false), fleet.core.names.token("u"))
            var later: Task<Answer<TokenTurn>, Never>?
            // More often than Redis is waited for in vain.
            for number in 0..<8 {
                if number == 5 {
                    later = Task {
                        isAsked.withLock { $0 = true }
                        return await fleet.core.store.takeToken(
                            name, insteadOf: .none, holder: "h", lease: .seconds(60), grace: .zero)
                    }
                    await eventually { isAsked.withLock { $0 } }
                }
                let isDone = Locked(false)
                let reserving = Task {
                    defer { isDone.withLock { $0 = true } }
                    return try await reserves(fleet)
                }
                await eventually {
                    clock.advance(by: .milliseconds(20))
                    return isDone.withLock { $0 }
                }
                #expect(try await reserving.value)
            }
            #expect(fleet.core.degradation == "not connected yet")
            // Nothing else waits any more, not even for the patience.
            #expect(try await reserves(fleet))
            narrows.open()
            #expect(try await refreshing.value == token)
            #expect(await later?.value == .success(.mine))
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        @Test("isn't waited for by a call that is cancelled, which asks nobody else then")
        func cancelledBeginning() async throws {
            let server = try await RedisServer()
            let (narrows, issuer) = (try Narrows(before: server, passing: 0), Issuer())
            defer { narrows.open() }
            let fleet = try Fleet(
                .redis(narrows.url), name: "test", patience: .milliseconds(20), members: 1, key: testKey, clock: TestClock(),
                limits: RedisLink.Limits(beginning: .seconds(86_400), heartbeat: .seconds(1e9), probe: .seconds(1e9)))
            Belongings.current?.add(fleet.core)
            let shared = fleet.sharing(issuer.authenticator(), as: "t", whenAlone: .refreshAlone)
            let refreshing = Task { try await shared.refresh(issuer.first) }
            await eventually { narrows.isReached }
            refreshing.cancel()
            await #expect(throws: CancellationError.self) { try await refreshing.value }
            #expect(issuer.counts == .init(refreshes: 0, reuses: 0))
        }

        @Test("is connected to without a reply on one connection being waited for before the others are made")
        func heldUpBeginning() async throws {
            let server = try await RedisServer()
            let (port, connections, last) = (server.port, Locked(0), DispatchSemaphore(value: 0))
            defer { last.signal() }
            let way = try RawServer { connection in
                let number = connections.increment()
                if number == 3 { last.signal() }
                connection.relay(to: port) { _ in
                    last.wait()
                    last.signal()
                    return true
                }
            }
            let fleet = try RedisServer.fleet(at: "redis://localhost:\(way.port)", name: "f")
            #expect(try await reserves(fleet))
            if case .connected = fleet.state.connection {} else { Issue.record("\(fleet.state)") }
            withExtendedLifetime((server, way)) {}
        }

        @Test("has nothing else wait behind bodies that are held up on their way", arguments: [false, true])
        func heldUpBodies(isHit: Bool) async throws {
            let server = try await RedisServer()
            let (narrows, sends) = (try Narrows(before: server), Locked(0))
            defer { narrows.open() }
            let request = HTTPRequest("https://h.test/a")
            func send(_ fleet: Fleet) async throws -> Int {
                try await CacheTests.client(fleet, sends, length: 1 << 20).send(request).data.count
            }
            if isHit { _ = try await send(server.fleet()) }
            let fleet = try RedisServer.fleet(at: narrows.url, name: "test")
            let sending = Task { try await CacheTests.client(fleet, sends, length: 1 << 20).send(request).data.count }
            await eventually { narrows.isReached }
            let rate = QuotaRate(interval: 1, burst: 1_000)
            #expect(await fleet.core.store.reserve("q", rate, waitingAtMost: .zero) == .success(.sends(after: .zero)))
            narrows.open()
            #expect(try await sending.value == 1 << 20)
            #expect(try await send(server.fleet()) == 1 << 20)
            #expect(sends.withLock { $0 } == 1)
        }

        @Test("isn't taken for one by a body that takes longer than the patience, but by one of which nothing comes")
        func lateBody() async throws {
            let server = try await RedisServer()
            let (narrows, clock, isDone) = (try Narrows(before: server), TestClock(), Locked(false))
            defer { narrows.open() }
            let fleet = try Fleet(
                .redis(narrows.url), name: "test", patience: .milliseconds(20), members: 1, key: testKey, clock: clock,
                limits: RedisLink.Limits(heartbeat: .seconds(1e9), probe: .seconds(1e9), silence: .seconds(3600)))
            Belongings.current?.add(fleet.core)
            let client = CacheTests.client(fleet, Locked(0), length: 1 << 20)
            let sending = Task {
                defer { isDone.withLock { $0 = true } }
                return try await client.send(HTTPRequest("https://h.test/a")).data.count
            }
            await eventually { narrows.isReached }
            await eventually {
                clock.advance(by: .milliseconds(20))
                return isDone.withLock { $0 }
            }
            #expect(try await sending.value == 1 << 20)
            #expect(fleet.core.degradation == nil)
            await eventually(within: .seconds(10)) {
                if fleet.state.isDegraded { return true }
                clock.advance(by: .seconds(600))
                return false
            }
            #expect(fleet.state.isDegraded)
        }

        @Test("asks for signs of life where messages come, and is taken for one when they cease to come there alone")
        func silentMessages() async throws {
            let server = try await RedisServer()
            let (port, clock) = (server.port, TestClock())
            let (pieces, isCut) = (Locked(0), Locked(false))
            let way = try RawServer { connection in
                // Told by what goes over it: connections that are made together come in any order.
                var hasMessages = false
                connection.relay(to: port) { bytes in
                    hasMessages = hasMessages || bytes.contains("SUBSCRIBE".utf8)
                    guard hasMessages else { return true }
                    pieces.withLock { $0 += 1 }
                    return !isCut.withLock { $0 }
                }
            }
            let fleet = try Fleet(
                .redis("redis://localhost:\(way.port)"), name: "test", patience: .milliseconds(20), members: 1, key: testKey,
                clock: clock,
                limits: RedisLink.Limits(heartbeat: .seconds(1e9), probe: .seconds(1e9), silence: .seconds(86_400)))
            Belongings.current?.add(fleet.core)
            #expect(try await reserves(fleet))
            // Twice a question and its answer.
            let before = pieces.withLock { $0 }
            await eventually(within: .seconds(60)) {
                if pieces.withLock({ $0 }) >= before + 4 { return true }
                clock.advance(by: .seconds(3))
                return false
            }
            #expect(pieces.withLock { $0 } >= before + 4 && !fleet.state.isDegraded, "\(fleet.state)")
            isCut.withLock { $0 = true }
            await eventually(within: .seconds(60)) {
                if fleet.state.isDegraded { return true }
                clock.advance(by: .seconds(10_000))
                return false
            }
            #expect(fleet.state.isDegraded)
            withExtendedLifetime((server, way)) {}
        }

        @Test("lets go of what it is connected by when it is closed, though somebody keeps it")
        func closed() {
            final class Dialler: Sendable {}
            var dialler: Dialler? = Dialler()
            weak let kept = dialler
            let settings = RedisLink.Settings(
                patience: .zero, names: FleetNames(fleet: "test", key: testKey), greeting: [], member: "m", expectedMembers: 1)
            let link = RedisLink(settings) { [dialler] in
                defer { withExtendedLifetime(dialler) {} }
                throw StoreFailure.unreachable("there is none")
            }
            dialler = nil
            #expect(kept != nil)
            link.close()
            #expect(kept == nil)
            withExtendedLifetime(link) {}
        }

        @Test("goes on with the wrong password, which is shown nowhere")
        func password() async throws {
            let server = try await RedisServer(["--requirepass", "right"])
            let fleet = try Fleet(
                .redis("redis://:canary@localhost:\(server.port)"), name: "f", patience: .milliseconds(20), key: testKey)
            await eventually {
                #expect((try? await reserves(fleet)) == true)
                return fleet.state.isDegraded
            }
            await eventually { "\(fleet.state)".contains("WRONGPASS") }
            var text = "\(fleet) \(fleet.state)"
            dump(fleet, to: &text)
            #expect(!text.contains("canary") && text.contains("WRONGPASS"))
            let right = try RedisServer.fleet(at: "redis://:right@localhost:\(server.port)", name: "f")
            await eventually {
                _ = try? await reserves(right)
                if case .connected = right.state.connection { return true }
                return false
            }
        }

        @Test("says what of its URL was refused where the server's code doesn't, and nothing that the server says")
        func refusedBeginning() async throws {
            let server = try await RedisServer()
            // As one does that takes no more clients.
            let full = try RawServer { connection in
                guard connection.readSome() != nil else { return }
                connection.write("-ERR canary\r\n")
                connection.waitForEnd()
            }
            let refused = [
                ("redis://:canary@localhost:\(server.port)/1", "at AUTH"), ("redis://localhost:\(server.port)/99", "at SELECT"),
                ("redis://localhost:\(full.port)", "while connecting"),
            ]
            for (url, place) in refused {
                let fleet = try Fleet(.redis(url), name: "f", patience: .milliseconds(20), key: testKey)
                await eventually {
                    #expect((try? await reserves(fleet)) == true)
                    return "\(fleet.state)".contains("refused with ERR \(place)")
                }
                #expect(!"\(fleet.state)".contains("canary"))
                fleet.close()
            }
            withExtendedLifetime((server, full)) {}
        }

        @Test("connects also as a user that may not ask Redis which process it is")
        func withoutInfo() async throws {
            let server = try await RedisServer()
            try await server.command(["ACL", "SETUSER", "u", "on", ">p", "~*", "&*", "+@all", "-info"])
            let fleet = try RedisServer.fleet(at: "redis://u:p@localhost:\(server.port)", name: "f")
            #expect(try await reserves(fleet))
            if case .connected = fleet.state.connection {} else { Issue.record("\(fleet.state)") }
        }

        @Test("connects as a user that may do what it has to, and as no other one that couldn't hear of what is removed")
        func withoutChannel() async throws {
            let server = try await RedisServer()
            let url = "redis://u:p@localhost:\(server.port)"
            let rules = [["&midstream:*", "+@all"], ["&__redis__:invalidate", "-client|tracking"]]
            for (number, rules) in rules.enumerated() {
                try await server.command(["ACL", "SETUSER", "u", "on", ">p", "~midstream:*"] + rules)
                let deaf = try RedisServer.fleet(at: url, name: "f\(number)")
                #expect(try await reserves(deaf))
                #expect(deaf.state.isDegraded && "\(deaf.state)".contains("NOPERM"), "\(deaf.state)")
            }
            try await server.command(["ACL", "SETUSER", "u", "+client|tracking"])
            let fleet = try RedisServer.fleet(at: url, name: "f")
            #expect(try await reserves(fleet))
            if case .connected = fleet.state.connection {} else { Issue.record("\(fleet.state)") }
        }

        @Test("goes on when the certificate is another's", .enabled(if: RedisServer.hasCertificates))
        func certificate() async throws {
            let server = try await RedisServer(secure: true)
            let fleet = try Fleet(.redis(server.url), name: "f", patience: .milliseconds(20), key: testKey)
            await eventually {
                #expect((try? await reserves(fleet)) == true)
                return fleet.state.isDegraded
            }
            let good = try server.fleet()
            #expect(try await reserves(good))
            if case .connected = good.state.connection {} else { Issue.record("\(good.state)") }
        }

        @Test("tells of each change, and ends when it is closed")
        func states() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            var states = fleet.states.makeAsyncIterator()
            let first = await states.next()
            #expect(first?.connection == .connecting)
            #expect(try await reserves(fleet))
            var state = await states.next()
            if case .connected = state?.connection {} else { Issue.record("\(String(describing: state))") }
            await server.kill()
            state = await states.next()
            #expect(state?.isDegraded == true)
            fleet.close()
            while await states.next() != nil {}
            #expect(try await reserves(fleet))
        }
    }
#endif
