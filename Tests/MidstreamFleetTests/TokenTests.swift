#if os(Linux)
    import Foundation
    import Interception
    import MidstreamAuthentication
    import MidstreamCore
    import MidstreamTesting
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    @Suite("A token of a fleet", .leavesNothing, .timeLimit(.minutes(10)))
    struct TokenTests {
        /// How many times a round is repeated; `Scripts/check fleet` has a thousand.
        static let rounds = ProcessInfo.processInfo.environment["MIDSTREAM_FLEET_ROUNDS"].flatMap { Int($0) } ?? 20

        @Test("is refreshed once for eight members that need it at the same time", arguments: [false, true])
        func once(isSecure: Bool) async throws {
            if isSecure, !RedisServer.hasCertificates { return }
            let server = try await RedisServer(secure: isSecure)
            for round in 0..<Self.rounds {
                let issuer = Issuer()
                let fleets = try (0..<8).map { _ in try server.fleet("round \(round)") }
                try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                    for fleet in fleets {
                        let client = issuer.client(fleet)
                        for _ in 0..<5 { group.addTask { try await client.status() } }
                    }
                    for try await status in group { #expect(status == .ok) }
                }
                #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
                for fleet in fleets { fleet.close() }
            }
        }

        @Test("is found by a member that comes later, and by one whose first credential is spent")
        func later() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            for _ in 0..<3 { #expect(try await issuer.client(server.fleet()).status() == .ok) }
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        @Test("is put back by its members when Redis comes back empty")
        func empty() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let fleets = try (0..<4).map { _ in try server.fleet() }
            let clients = fleets.map { issuer.client($0, whenAlone: .waits) }
            for client in clients { #expect(try await client.status() == .ok) }
            for refreshes in 1...3 {
                await server.kill()
                try await server.start()
                // Nobody else has been told that this one isn't good any more.
                for fleet in fleets { await eventually { !fleet.state.isDegraded } }
                let newcomer = try server.fleet()
                await eventually { await isStored(Int64(refreshes) + 1, in: newcomer) }
                #expect(try await issuer.client(newcomer, whenAlone: .waits).status() == .ok)
                #expect(issuer.counts == .init(refreshes: refreshes, reuses: 0))
                issuer.revokeAccess()
                try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                    for client in clients { group.addTask { try await client.status() } }
                    for try await status in group { #expect(status == .ok) }
                }
                #expect(issuer.counts == .init(refreshes: refreshes + 1, reuses: 0))
            }
        }

        @Test("is put back by its members when Redis is emptied while they are connected")
        func emptied() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let client = issuer.client(try server.fleet(), whenAlone: .waits)
            #expect(try await client.status() == .ok)
            try await server.command(["FLUSHALL"])
            let newcomer = try server.fleet()
            await eventually { await isStored(2, in: newcomer) }
            // It would spend its first token again.
            #expect(try await issuer.client(newcomer, whenAlone: .waits).status() == .ok)
            #expect(try await client.status() == .ok)
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        @Test("is put back by its members when Redis has evicted it, which one finds that knows an older one")
        func evicted() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let fleet = try server.fleet()
            let client = issuer.client(fleet, whenAlone: .waits)
            #expect(try await client.status() == .ok)
            try await server.command(["DEL", fleet.core.names.token("partner-api")])
            // It would spend its first token again, after the grace.
            let newcomer = try server.fleet(grace: .seconds(60))
            #expect(try await issuer.client(newcomer, whenAlone: .waits).status() == .ok)
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        private func isStored(_ generation: Int64, in fleet: Fleet) async -> Bool {
            let name = fleet.core.names.token("partner-api")
            let turn = await fleet.core.store.takeToken(
                name, insteadOf: .none, holder: "test", lease: .milliseconds(1), grace: .zero)
            if case .success(.mine) = turn {
                _ = await fleet.core.store.failToken(name, of: .none, holder: "test", pause: nil, isDead: false)
            }
            if case .success(.other(let record)) = turn { return record.generation >= generation }
            return false
        }

        @Test("is never refreshed with a spent one when Redis comes back with old data")
        func snapshot() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let (first, second) = (try server.fleet(), try server.fleet())
            let (a, b) = (issuer.client(first, whenAlone: .waits), issuer.client(second, whenAlone: .waits))
            #expect(try await a.status() == .ok)
            #expect(try await b.status() == .ok)
            _ = try await server.command(["SAVE"])
            issuer.revokeAccess()
            #expect(try await a.status() == .ok)
            await server.kill()
            try await server.start()
            for fleet in [first, second] { await eventually { !fleet.state.isDegraded } }
            issuer.revokeAccess()
            #expect(try await a.status() == .ok)
            #expect(try await b.status() == .ok)
            #expect(issuer.counts == .init(refreshes: 3, reuses: 0))
        }

        @Test("isn't tried by each member when the issuer fails, and the lock is given back")
        func failure() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            issuer.fail(1)
            let clients = try (0..<8).map { _ in issuer.client(try server.fleet()) }
            let errors = await withTaskGroup(of: HTTPError?.self) { group in
                for client in clients {
                    group.addTask {
                        do {
                            _ = try await client.status()
                            return nil
                        } catch {
                            return error as? HTTPError
                        }
                    }
                }
                return await group.reduce(into: [HTTPError]()) { if let error = $1 { $0.append(error) } }
            }
            for error in errors { #expect(error.code == .authentication) }
            await eventually { (try? await clients[0].status()) == .ok }
            for client in clients { await eventually { (try? await client.status()) == .ok } }
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        @Test("that the issuer refuses for good is tried by nobody else, until somebody logs in")
        func dead() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            // Somebody outside the fleet has spent it.
            _ = try await issuer.authenticator().refresh(issuer.first)
            let clients = try (0..<4).map { _ in issuer.client(try server.fleet()) }
            for client in clients {
                for _ in 0..<3 {
                    let error = await #expect(throws: HTTPError.self) { try await client.status() }
                    #expect(error?.code == .authentication && error?.message.contains("for good") == true)
                }
            }
            let session = AuthenticationInterceptor(
                try server.fleet().sharing(issuer.authenticator(), as: "partner-api"), origins: ["https://api.test"])
            try await session.logIn(
                OAuthToken(accessToken: "canary-access-1", refreshToken: "canary-refresh-1", expires: .distantFuture))
            #expect(try await issuer.client(session).status() == .ok)
            for client in clients { await eventually { (try? await client.status()) == .ok } }
            #expect(issuer.counts == .init(refreshes: 1, reuses: 1))
        }

        @Test("of a holder that was killed is refreshed when the lock has expired; a late write is refused")
        func late() async throws {
            let server = try await RedisServer()
            let (first, second) = (try server.fleet(), try server.fleet())
            let name = first.core.names.token("t")
            let store = first.core.store
            let lease = Duration.milliseconds(200)
            #expect(await store.takeToken(name, insteadOf: .none, holder: "a", lease: lease, grace: .zero) == .success(.mine))
            #expect(await store.takeToken(name, insteadOf: .none, holder: "a", lease: lease, grace: .zero) == .success(.mine))
            var turns: [Answer<TokenTurn>] = []
            await eventually {
                turns.append(
                    await second.core.store.takeToken(name, insteadOf: .none, holder: "b", lease: .seconds(60), grace: .zero))
                return turns.last == .success(.mine)
            }
            for turn in turns.dropLast() { if case .success(.held) = turn {} else { Issue.record("\(turn)") } }
            let record = TokenRecord(generation: 1, obtained: 5, token: [1])
            #expect(await store.writeToken(record, as: name, holder: "a") == .success(false))
            #expect(await second.core.store.writeToken(record, as: name, holder: "b") == .success(true))
            #expect(await store.writeToken(record, as: name, holder: "b") == .success(false))
            // Older ones, and one of the same generation that was obtained before, change nothing.
            for other in [
                TokenRecord(generation: 0, obtained: 9, token: [2]), TokenRecord(generation: 1, obtained: 4, token: [3]),
            ] {
                #expect(await store.offerToken(other, as: name, holder: "", grace: .zero) == .success(record))
            }
            let newer = TokenRecord(generation: 1, obtained: 6, token: [4])
            #expect(await store.offerToken(newer, as: name, holder: "", grace: .zero) == .success(newer))
        }

        @Test("isn't taken for one that another member holds when the store has forgotten it")
        func forgotten() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let turn = await fleet.core.store.takeToken(
                fleet.core.names.token("t"), insteadOf: .none, holder: "a", lease: .seconds(60), grace: .seconds(60))
            if case .success(.held(_, afterLoss: true)) = turn {} else { Issue.record("\(turn)") }
        }

        @Test("may be held for longer than milliseconds can be counted")
        func longLease() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let turn = await fleet.core.store.takeToken(
                fleet.core.names.token("t"), insteadOf: .none, holder: "a", lease: .seconds(Int64.max), grace: .zero)
            #expect(turn == .success(.mine))
        }

        @Test("whose holder is stopped at the issuer is refreshed by another, once", arguments: [false, true])
        func stoppedHolder(isSpent: Bool) async throws {
            let server = try await RedisServer()
            let (entered, gate, isFirst) = (Gate(), Gate(), Locked(true))
            let hang: @Sendable () async throws -> Void = {
                let hangs = isFirst.lower()
                guard hangs else { return }
                entered.open()
                await gate.wait()
            }
            let issuer = isSpent ? Issuer(after: hang) : Issuer(before: hang)
            let members = try (0..<2).map { _ in
                try server.fleet().sharing(issuer.authenticator(), as: "t", reuseInterval: .milliseconds(300))
            }
            let stopped = Task { try await members[0].refresh(nil) }
            await entered.wait()
            if isSpent {
                for _ in 0..<3 {
                    let error = await #expect(throws: FleetRefreshError.self) { try await members[1].refresh(nil) }
                    #expect(error?.code == .dead)
                }
                #expect(issuer.counts == .init(refreshes: 1, reuses: 1))
            } else {
                #expect(try await members[1].refresh(nil).accessToken == "canary-access-1")
                #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
            }
            gate.open()
            #expect(try await stopped.value.accessToken == "canary-access-1")
            #expect(try await members[1].refresh(nil).accessToken == "canary-access-1")
            #expect(issuer.counts == .init(refreshes: 1, reuses: 1))
        }

        @Test("isn't counted as refreshed in vain while Redis is stopped")
        func stopped() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let fleet = try server.fleet(patience: .milliseconds(20))
            let client = issuer.client(fleet, whenAlone: .waits)
            await eventually { (try? await client.status()) == .ok }
            server.pause()
            issuer.revokeAccess()
            let calls = Task {
                try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                    for _ in 0..<20 { group.addTask { try await client.status() } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            await eventually { fleet.state.isDegraded }
            server.resume()
            #expect(try await calls.value == Array(repeating: .ok, count: 20))
            #expect(issuer.counts.reuses == 0)
        }

        @Test("goes on with the old one while Redis is gone, and with the issuer's where tokens don't rotate")
        func alone() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let fleet = try server.fleet()
            let client = issuer.client(fleet, whenAlone: .refreshAlone)
            #expect(try await client.status() == .ok)
            await server.kill()
            await eventually { fleet.state.isDegraded }
            issuer.revokeAccess()
            #expect(try await client.status() == .ok)
            let old = try server.fleet()
            let patient = issuer.client(old)
            await eventually {
                _ = try? await patient.status()
                return old.state.isDegraded
            }
            let error = await #expect(throws: HTTPError.self) { try await patient.status() }
            #expect(error?.code == .authentication)
            #expect(error?.trace?.description.contains("decided locally") == true || error?.message.contains("store") == true)
            try await server.start()
            // Before the newcomer, which can't know that its token is spent.
            await eventually { await isStored(3, in: fleet) }
            await eventually { (try? await patient.status()) == .ok }
            #expect(issuer.counts == .init(refreshes: 2, reuses: 0))
        }

        @Test("of a login is everybody's, and a logout ends it for all")
        func login() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let authenticators = try (0..<2).map { _ in
                try server.fleet().sharing(issuer.authenticator(), as: "partner-api")
            }
            let token = try await authenticators[0].refresh(nil)
            #expect(try await authenticators[1].refresh(issuer.first) == token)
            let other = OAuthToken(accessToken: "other", refreshToken: "r", expires: .distantFuture)
            try await authenticators[1].save(other)
            #expect(try await authenticators[0].refresh(token) == other)
            try await authenticators[0].save(nil)
            await #expect(throws: RefreshRefusal.loginEnded) { try await authenticators[1].refresh(other) }
            // What that member has kept of the login doesn't begin it again.
            await #expect(throws: OAuthError.self) { try await authenticators[1].refresh(other) }
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        }

        @Test("of a login isn't begun anew by a wish that is repeated after other logins and a refresh")
        func repeatedWish() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let (store, name) = (fleet.core.store, fleet.core.names.token("t"))
            let wished = TokenRecord(login: 1, generation: 1, obtained: 5, token: [1])
            #expect(await store.replaceToken(wished, as: name, wish: "a") == .success(BegunLogin(login: 1, there: wished)))
            var there = wished
            for number in Int64(2)...4 {
                (there.login, there.generation) = (number, number)
                #expect(
                    await store.replaceToken(wished, as: name, wish: "b\(number)")
                        == .success(BegunLogin(login: number, there: there)))
            }
            let lease = Duration.seconds(60)
            #expect(await store.takeToken(name, insteadOf: there, holder: "h", lease: lease, grace: .zero) == .success(.mine))
            there.generation += 1
            #expect(await store.writeToken(there, as: name, holder: "h") == .success(true))
            there.obtained += 1
            #expect(await store.offerToken(there, as: name, holder: "", grace: .zero) == .success(there))
            #expect(await store.replaceToken(wished, as: name, wish: "a") == .success(BegunLogin(login: 1, there: there)))
            // Only the latest are kept.
            let long = String(repeating: "c", count: 50)
            for number in 0..<50 { _ = await store.replaceToken(wished, as: name, wish: "\(long)\(number)") }
            #expect(try await server.command(["HSTRLEN", name, "w"]).number == 2_000)
        }

        @Test("isn't waited for when the news of it came between asking and waiting")
        func news() async throws {
            let clock = ContinuousClock()
            let store = ModelLink(ModelStore(clock)) { .isLost }
            let core = FleetCore(name: "f", key: testKey, member: "m", clock: clock, store: store)
            let (heard, token) = (core.newsHeard, core.names.token("t"))
            core.hear(core.names.news, [token])
            await core.news(of: token, since: heard, within: .seconds(3_600))
        }

        @Test("is nowhere to be read in what Redis is sent")
        func monitor() async throws {
            let server = try await RedisServer()
            let transport = WireTransport(configuration: .init(idleTimeout: nil, usesCallersThreads: false))
            defer { transport.close() }
            let origin = try #require(HTTPOrigin("http://localhost:\(server.port)"))
            let channel = try await transport.connect(to: origin, tls: nil, timeout: .seconds(120))
            try await channel.write(Array("MONITOR\r\n".utf8))
            let issuer = Issuer()
            let fleet = try server.fleet()
            #expect(try await issuer.client(fleet).status() == .ok)
            try await server.command(["ECHO", "the end"])
            var text = ""
            while !text.contains("the end"), let bytes = try await channel.read() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.contains("EVALSHA") && !text.contains("canary") && !text.contains("partner-api"))
            channel.close()
        }

        @Test("isn't replaced by an older one of a second client of the same process")
        func secondClient() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let shared = try server.fleet().sharing(issuer.authenticator(), as: "partner-api")
            let first = issuer.first
            try await shared.save(first)
            let token = try await shared.refresh(first)
            let next = try await shared.refresh(token)
            // What another client has had, or begins with.
            for old in [first, token, issuer.first] { try await shared.save(old) }
            let other = try server.fleet().sharing(issuer.authenticator(), as: "partner-api")
            #expect(try await other.refresh(nil) == next)
            #expect(issuer.counts == .init(refreshes: 2, reuses: 0))
        }

        @Test("is nowhere to be read in Redis")
        func secrets() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let fleet = try server.fleet()
            #expect(try await issuer.client(fleet).status() == .ok)
            let names = try #require(try await server.command(["KEYS", "*"]).elements?.compactMap(\.string))
            #expect(!names.isEmpty)
            for name in names {
                #expect(!name.contains("partner-api") && !name.contains("canary"))
                #expect(try await server.command(["PTTL", name]).number ?? -1 > 0, "\(name) never expires")
                let value = try await server.command(["DUMP", name]).content ?? []
                #expect(!String(decoding: value, as: UTF8.self).contains("canary"))
            }
        }
    }
#endif
