#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCache
    import MidstreamCacheStore
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// What is measured in time, on a machine that does nothing else: by `Scripts/check fleet` alone.
    @Suite(
        "A fleet, measured", .leavesNothing, .serialized, .timeLimit(.minutes(10)),
        .enabled(if: ProcessTests.rounds != nil))
    struct MeasuredTests {
        private func member(_ url: String, _ tls: TLSConfiguration? = nil, members: Int = 1) throws -> Fleet {
            let fleet = try Fleet(.redis(url, tls: tls), name: "f", members: members, key: testKey)
            Belongings.current?.add(fleet.core)
            return fleet
        }

        private func isConnected(_ fleet: Fleet) -> Bool {
            if case .connected = fleet.state.connection { true } else { false }
        }

        private func connect(_ fleet: Fleet, _ quota: any Quota) async {
            await eventually {
                _ = try? await quota.reserve(for: "k", waitingAtMost: .zero)
                return isConnected(fleet)
            }
        }

        /// The time of each decision, one after the other.
        private func times(_ quota: any Quota, while isSo: () -> Bool) async throws -> [Duration] {
            var times: [Duration] = []
            while isSo() {
                let begin = ContinuousClock.now
                _ = try await quota.reserve(for: "k", waitingAtMost: .zero)
                times.append(.now - begin)
                try await Task.sleep(for: .milliseconds(1))
            }
            return times
        }

        enum Trouble: String, CaseIterable {
            case stopped, killed, readOnly, outOfMemory, slow, halfOpen, garbage, wrongPassword, wrongCertificate

            /// It is there before the first connection.
            var isThereAtFirst: Bool { self == .garbage || self == .wrongPassword || self == .wrongCertificate }
        }

        private static func arguments(of kind: Trouble) -> [String] {
            switch kind {
            case .wrongPassword: ["--requirepass", "right"]
            // The authority's, but of a client.
            case .wrongCertificate: certificate(of: "CLIENT", prefix: "--")
            default: []
            }
        }

        /// The settings for one of the certificates that the tests' servers have.
        private static func certificate(of owner: String, prefix: String = "") -> [String] {
            let environment = ProcessInfo.processInfo.environment
            return [("tls-cert-file", "CERT"), ("tls-key-file", "KEY")].flatMap { name, kind in
                [prefix + name, environment["MIDSTREAM_\(owner)_\(kind)"] ?? ""]
            }
        }

        @Test("is never in the way, notices trouble and its end", arguments: Trouble.allCases)
        func trouble(kind: Trouble) async throws {
            let server = try await RedisServer(secure: kind == .wrongCertificate, Self.arguments(of: kind))
            let port = server.port
            // What lies between the member and Redis for some kinds of trouble.
            let isOn = Locked(kind.isThereAtFirst)
            let way = try RawServer { connection in
                if kind == .garbage, isOn.withLock({ $0 }) {
                    connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
                    return connection.waitForEnd()
                }
                connection.relay(to: port) { _ in
                    guard isOn.withLock({ $0 }) else { return true }
                    if kind == .slow { Thread.sleep(forTimeInterval: 5) }
                    return kind != .halfOpen
                }
            }
            let fleet = try member(
                kind == .wrongCertificate
                    ? server.url
                    : kind == .wrongPassword ? "redis://:wrong@localhost:\(port)" : "redis://localhost:\(way.port)",
                server.tls)
            let quota = fleet.quota("q", perSecond: 1e6)
            if !kind.isThereAtFirst { await connect(fleet, quota) }
            // What makes trouble takes time itself.
            let command: [String]? =
                switch kind {
                case .readOnly: ["REPLICAOF", "127.0.0.1", "1"]
                case .outOfMemory: ["CONFIG", "SET", "maxmemory", "1"]
                default: nil
                }
            if let command { try await server.command(command) }
            let begin = ContinuousClock.now
            isOn.withLock { $0 = true }
            if kind == .stopped { server.pause() }
            let killing = Task { if kind == .killed { await server.kill() } }
            let noticed = Locked<Duration?>(nil)
            let times = try await times(quota) {
                if fleet.state.isDegraded { noticed.withLock { $0 = $0 ?? ContinuousClock.now - begin } }
                return ContinuousClock.now - begin < .seconds(4)
            }
            await killing.value
            isOn.withLock { $0 = false }
            switch kind {
            case .stopped: server.resume()
            case .killed: try await server.start()
            case .readOnly: try await server.command(["REPLICAOF", "NO", "ONE"])
            case .outOfMemory: try await server.command(["CONFIG", "SET", "maxmemory", "0"])
            case .wrongPassword: try await server.command(["CONFIG", "SET", "requirepass", "wrong"], password: "right")
            case .wrongCertificate: try await server.command(["CONFIG", "SET"] + Self.certificate(of: "SERVER"))
            case .slow, .halfOpen, .garbage: break
            }
            let end = ContinuousClock.now
            await connect(fleet, quota)
            let back = ContinuousClock.now - end
            let sorted = times.sorted()
            let p99 = sorted[sorted.count * 99 / 100]
            let slowest = try #require(sorted.last)
            let notice = try #require(noticed.withLock { $0 })
            print("\(kind.rawValue): p99 \(p99), slowest \(slowest), noticed after \(notice), back after \(back)")
            #expect(p99 <= .milliseconds(25))
            #expect(notice <= .milliseconds(200))
            #expect(back <= .seconds(2))
        }

        @Test("sends no more than its share while Redis is gone")
        func share() async throws {
            let server = try await RedisServer()
            let fleets = try (0..<4).map { _ in try member(server.url) }
            let sent = Locked<[[ContinuousClock.Instant]]>(Array(repeating: [], count: 4))
            let isOver = Locked(false)
            let begin = try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, fleet) in fleets.enumerated() {
                    let quota = fleet.quota("q", perSecond: 100, burst: 10)
                    await connect(fleet, fleet.quota("other", perSecond: 1e6))
                    group.addTask {
                        while !isOver.withLock({ $0 }) {
                            guard case .sends(let wait) = try await quota.reserve(for: "k", waitingAtMost: .seconds(1)) else {
                                try await Task.sleep(for: .milliseconds(1))
                                continue
                            }
                            try await Task.sleep(for: wait)
                            sent.withLock { $0[number].append(.now) }
                        }
                    }
                }
                // A heartbeat later each has counted all.
                try await Task.sleep(for: .seconds(4))
                await server.kill()
                let begin = ContinuousClock.now
                try await Task.sleep(for: .seconds(10))
                isOver.withLock { $0 = true }
                try await group.waitForAll()
                return begin
            }
            let counts = sent.withLock { $0.map { $0.filter { begin <= $0 && $0 < begin + .seconds(10) }.count } }
            print("Sent in 10 s of an outage, of 250 each: \(counts)")
            #expect(counts.allSatisfy { $0 <= 300 && $0 > 0 })
        }

        @Test("tells near caches of a change at once, and within 5 s when its messages are cut", arguments: [false, true])
        func invalidation(isCut: Bool) async throws {
            let server = try await RedisServer()
            let version = Locked<UInt8>(1)
            let clients = try (0..<8).map { _ in
                let fleet = try member(server.url)
                let stub = StubTransport { request in
                    HTTPResponse(
                        status: 200, headers: ["Cache-Control": "max-age=600"], body: .bytes([version.withLock { $0 }]),
                        request: request)
                }
                return testClient(transport: stub) {
                    CacheInterceptor(
                        .shared, store: TieredStore(MemoryCacheStore(), fleet.cache(), forgetting: fleet.invalidations))
                }
            }
            for client in clients {
                await eventually {
                    let response = try? await client.send(HTTPRequest("https://h.test/a"))
                    return response?.cacheStatus?.isHit == true
                }
            }
            version.withLock { $0 = 2 }
            if isCut { try await server.command(["CLIENT", "KILL", "TYPE", "pubsub"]) }
            _ = try await clients[0].send(HTTPRequest(.delete, "https://h.test/a"))
            let begin = ContinuousClock.now
            for client in clients {
                await eventually { (try? await client.send(HTTPRequest("https://h.test/a")))?.data.first == 2 }
            }
            let first = ContinuousClock.now - begin
            print("Invalidation\(isCut ? ", messages cut" : ""): seen by all after \(first)")
            #expect(first <= .seconds(5))
        }

        @Test("decides 25,000 times a second")
        func throughput() async throws {
            let server = try await RedisServer()
            let fleet = try member(server.url)
            let quota = fleet.quota("q", perSecond: 1e6)
            await connect(fleet, quota)
            let count = 50_000
            let begin = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<32 {
                    group.addTask { for _ in 0..<(count / 32) { _ = try await quota.reserve(for: "k", waitingAtMost: .zero) } }
                }
                try await group.waitForAll()
            }
            let perSecond = Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
            let alone = try await times(quota) { [begin = ContinuousClock.now] in ContinuousClock.now - begin < .seconds(1) }
                .sorted()
            print("Decisions a second, 32 at a time: \(Int(perSecond)); one takes \(alone[alone.count / 2]); \(fleet.state)")
            #expect(!fleet.state.isDegraded)
            #expect(perSecond >= 25_000)
        }
    }
#endif
