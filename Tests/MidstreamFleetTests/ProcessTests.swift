#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamAuthentication
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// Eight processes with one account, whose server and issuer are in this one.
    @Suite(
        "Processes of a fleet", .leavesNothing, .serialized, .timeLimit(.minutes(60)), .enabled(if: !isWorker))
    struct ProcessTests {
        /// What is about minutes, or many rounds: by `Scripts/check fleet` alone.
        static let rounds = ProcessInfo.processInfo.environment["MIDSTREAM_FLEET_ROUNDS"].flatMap { Int($0) }

        /// Runs eight workers to their ends.
        private func run(_ orders: FleetWorker.Orders) async throws -> [FleetWorker.Report] {
            try await withThrowingTaskGroup(of: FleetWorker.Report.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var orders = orders
                        orders.number = number
                        return try await FleetWorker.start(orders)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }

        @Test("refresh an expired token once, round after round")
        func once() async throws {
            let redis = try await RedisServer()
            let all = Self.rounds ?? 1
            for first in stride(from: 0, to: all, by: 100) {
                let count = min(100, all - first)
                let accounts = try FleetAccounts(count)
                let reports = try await run(
                    FleetWorker.Orders(
                        redis: redis.url, server: accounts.url, fleet: "rounds from \(first)", rounds: count, calls: 200))
                #expect(reports.allSatisfy { $0.calls == count * 200 && $0.bad == 0 }, "\(reports)")
                #expect(accounts.issuers.allSatisfy { $0.counts == .init(refreshes: 1, reuses: 0) })
                if Self.rounds != nil {
                    print("Rounds \(first) to \(first + count): \(reports.map(\.longest).max() ?? 0) ms at most")
                }
                accounts.shutdown()
            }
        }

        /// OpenSSL puts itself away when a process ends, though other threads may be using it.
        @Test("may end while something is sealed")
        func endWhileSealing() async {
            await #expect(processExitsWith: .success) {
                // Comes after what OpenSSL registers when it is first used.
                atexit { if (try? testKey.seal([1], for: "a")) == nil { _exit(EXIT_FAILURE) } }
                _ = try testKey.seal([1], for: "a")
            }
        }

        enum Trouble: String, CaseIterable { case stopped, emptied, restored }

        /// Tokens live for a second and a half; Redis is in trouble from the fourth second to the seventh.
        @Test(
            "neither spend a token twice nor give up while Redis is stopped, or comes back empty or with old data",
            .enabled(if: rounds != nil), arguments: Trouble.allCases)
        func trouble(kind: Trouble) async throws {
            let redis = try await RedisServer()
            let accounts = try FleetAccounts(1, life: 1.5)
            let orders = FleetWorker.Orders(
                redis: redis.url, server: accounts.url, fleet: "f", calls: .max, seconds: 14, isByDefault: true)
            async let reports = run(orders)
            let issuer = accounts.issuers[0]
            await eventually { issuer.counts.refreshes >= 1 }
            try await Task.sleep(for: .seconds(1))
            if kind == .restored { try await redis.command(["SAVE"]) }
            try await Task.sleep(for: .seconds(3))
            if kind == .stopped { redis.pause() } else { await redis.kill() }
            try await Task.sleep(for: .seconds(3))
            if kind == .stopped { redis.resume() } else { try await redis.start() }
            let all = try await reports
            print(
                "\(kind.rawValue): \(issuer.counts), \(all.map(\.calls).reduce(0, +)) calls, \(all.map(\.bad).reduce(0, +)) bad,",
                "\(all.map(\.longest).max() ?? 0) ms at most \(all.compactMap(\.firstBad).first ?? "")")
            #expect(issuer.counts.reuses == 0)
            #expect(all.allSatisfy { $0.excessive == 0 && $0.bad == 0 })
            for name in try await redis.command(["KEYS", "*"]).elements?.compactMap(\.string) ?? [] {
                let value = try await redis.command(["DUMP", name]).content ?? []
                #expect(!name.contains("canary") && !String(decoding: value, as: UTF8.self).contains("canary"))
            }
            accounts.shutdown()
        }

        /// One process is killed, or stopped for 40 s, at some place of a refresh; the lock lasts 20 s. Members in this process need the
        /// token as well.
        @Test("go on when one disappears during a refresh", .enabled(if: rounds != nil))
        func disappearance() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for place in FleetWorker.Place.allCases {
                    for isKilled in [true, false] { group.addTask { try await self.disappear(at: place, isKilled: isKilled) } }
                }
                try await group.waitForAll()
            }
        }

        private func disappear(at place: FleetWorker.Place, isKilled: Bool) async throws {
            let redis = try await RedisServer()
            let process = Locked<pid_t?>(nil)
            let signal = isKilled ? SIGKILL : SIGSTOP
            let accounts = try FleetAccounts(1) { at, id in
                let isFirst = process.withLock { process in
                    guard process == nil, at == place else { return false }
                    process = id
                    return true
                }
                guard isFirst else { return }
                kill(id, signal)
                // Its threads go on until one of them has seen the signal.
                await eventually { Self.isStopped(id) }
            }
            let issuer = accounts.issuers[0]
            let worker = Task {
                try await FleetWorker.start(
                    FleetWorker.Orders(
                        redis: redis.url, server: accounts.url, fleet: "f", calls: 1, lease: 20, place: place,
                        isByDefault: true))
            }
            await eventually { process.withLock { $0 } != nil }
            let begin = ContinuousClock.now
            let clients = try (0..<3).map { _ in
                let fleet = try Fleet(.redis(redis.url), name: "f, 0", key: testKey)
                Belongings.current?.add(fleet.core)
                return issuer.client(fleet, as: "t", whenAlone: .waits, reuseInterval: .seconds(20))
            }
            // The first answer of each, whatever it is; and what comes of going on until after the stopped process has gone on.
            let first = await withTaskGroup(of: Bool.self) { group in
                for client in clients { group.addTask { (try? await client.status()) == .ok } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let wait = ContinuousClock.now - begin
            let counts = issuer.counts
            if !isKilled {
                try await Task.sleep(for: .seconds(40) - wait)
                if let id = process.withLock({ $0 }) { kill(id, SIGCONT) }
            }
            let report = isKilled ? nil : try? await worker.value
            var last: [Bool] = []
            for _ in 0..<10 {
                last = []
                for client in clients { last.append((try? await client.status()) == .ok) }
                try await Task.sleep(for: .milliseconds(300))
            }
            print(
                "\(isKilled ? "killed" : "stopped") \(place.rawValue): \(first.filter { $0 }.count) of 3 served after \(wait),",
                "\(counts); in the end \(last.filter { $0 }.count) of 3, the process \(report.map { "\($0)" } ?? "gone"), \(issuer.counts)"
            )
            #expect(wait <= .seconds(21))
            #expect(issuer.counts.reuses <= 1)
            if place == .before {
                #expect(first == [true, true, true] && counts == .init(refreshes: 1, reuses: 0))
                #expect(last == [true, true, true])
            } else {
                // It is spent, and what it has brought isn't known: one try, and no other.
                #expect(counts == .init(refreshes: 1, reuses: 1))
                // One that was only stopped has it: the store refuses it in place of the old one, and takes it as a newer one.
                #expect(last == Array(repeating: !isKilled, count: 3))
            }
            accounts.shutdown()
        }

        /// Whether no thread of a process runs.
        private static func isStopped(_ id: pid_t) -> Bool {
            guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let state = text.split(separator: ")").last?.first(where: { $0 != " " })
            else { return true }
            return "TZX".contains(state)
        }

        @Test("keep one quota for a minute, each its share, by whatever clock", .enabled(if: rounds != nil))
        func quota() async throws {
            let redis = try await RedisServer()
            let accounts = try FleetAccounts(1, life: 1e6)
            let reports = try await run(
                FleetWorker.Orders(
                    redis: redis.url, server: accounts.url, fleet: "f", calls: .max, perSecond: 100, seconds: 70,
                    areClocksOff: true, isByDefault: true))
            #expect(reports.allSatisfy { $0.bad == 0 }, "\(reports)")
            let all = accounts.requests.withLock { $0 }
            // From when all have started to when the first ends.
            let begin = try #require(all.first?.time) + .seconds(5)
            let counted = all.filter { begin <= $0.time && $0.time < begin + .seconds(60) }
            let shares = Dictionary(grouping: counted, by: \.process).mapValues(\.count)
            print("Requests in 60 s at 100/s: \(counted.count), of each process \(shares.values.sorted())")
            #expect(abs(Double(counted.count) - 6_000) <= 30)
            #expect(shares.count == 8 && shares.values.allSatisfy { abs(Double($0) - 750) <= 150 })
            accounts.shutdown()
        }
    }
#endif
