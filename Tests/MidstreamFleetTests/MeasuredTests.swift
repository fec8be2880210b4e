#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// What is measured in time, on a machine that does nothing else: by `Scripts/check fleet` alone.
    @Suite(
        "A fleet, measured", .leavesNothing, .serialized, .timeLimit(.minutes(10)),
        .enabled(if: ProcessInfo.processInfo.environment["MIDSTREAM_FLEET_ROUNDS"] != nil))
    struct MeasuredTests {
        private func connected(_ server: RedisServer) async throws -> (Fleet, any Quota) {
            let fleet = try Fleet(.redis(server.url), name: "f", key: testKey)
            Belongings.current?.add(fleet.core)
            let quota = fleet.quota("q", perSecond: 1e6)
            await eventually {
                _ = try? await quota.reserve(for: "k", waitingAtMost: .zero)
                if case .connected = fleet.state.connection { return true }
                return false
            }
            return (fleet, quota)
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
            return times.sorted()
        }

        @Test("is never in the way, notices trouble and its end", arguments: ["stopped", "killed", "read-only"])
        func trouble(kind: String) async throws {
            let server = try await RedisServer()
            let (fleet, quota) = try await connected(server)
            let begin = ContinuousClock.now
            switch kind {
            case "stopped": server.pause()
            case "killed": await server.kill()
            default: try await server.command(["REPLICAOF", "127.0.0.1", "1"])
            }
            let noticed = Locked<Duration?>(nil)
            let times = try await times(quota) {
                if fleet.state.isDegraded { noticed.withLock { $0 = $0 ?? ContinuousClock.now - begin } }
                return ContinuousClock.now - begin < .seconds(3)
            }
            switch kind {
            case "stopped": server.resume()
            case "killed": try await server.start()
            default: try await server.command(["REPLICAOF", "NO", "ONE"])
            }
            let end = ContinuousClock.now
            await eventually { !fleet.state.isDegraded }
            let back = ContinuousClock.now - end
            let p99 = times[times.count * 99 / 100]
            let slowest = try #require(times.last)
            print(
                "\(kind): p99 \(p99), slowest \(slowest), noticed after \(noticed.withLock { $0 } ?? .zero), back after \(back)")
            #expect(p99 <= .milliseconds(25))
            #expect(try #require(noticed.withLock { $0 }) <= .milliseconds(200))
            #expect(back <= .seconds(2))
        }

        @Test("decides 25,000 times a second")
        func throughput() async throws {
            let server = try await RedisServer()
            let (fleet, quota) = try await connected(server)
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
            print("Decisions a second, 32 at a time: \(Int(perSecond)); one takes \(alone[alone.count / 2]); \(fleet.state)")
            #expect(!fleet.state.isDegraded)
            #expect(perSecond >= 25_000)
        }
    }
#endif
