#if os(Linux)
    import Foundation
    import Interception
    import MidstreamAuthentication
    import MidstreamCache
    import MidstreamCacheStore
    import MidstreamCore
    import MidstreamFleet
    import MidstreamResilience
    import MidstreamTesting
    import TestSupport
    import Testing

    @Suite("Fleets.md", .leavesNothing, .timeLimit(.minutes(10)))
    struct PageExamples {
        @Test("A fleet")
        func fleet() async throws {
            let server = try await RedisServer()
            let issuer = Issuer()
            let (oauth, redis, key) = (issuer.authenticator(), server.url, testKey)
            let stub = StubTransport(status: .ok, headers: ["Cache-Control": "max-age=60"])
            let fleet = try Fleet(.redis(redis), name: "billing", key: key)
            let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
                AuthenticationInterceptor(fleet.sharing(oauth, as: "partner-api", whenAlone: .waits))
                RateLimit(quota: fleet.quota("partner-api", perSecond: 100, burst: 50))
                CacheInterceptor(
                    .shared, store: TieredStore(MemoryCacheStore(), fleet.cache(), forgetting: fleet.invalidations))
            }
            #expect(try await client.send(HTTPRequest("a")).status == .ok)
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
            #expect("\(fleet.state)".contains("1 refreshes here"))
        }

        @Test("The key")
        func key() {
            #expect(throws: FleetKey.Invalid.missing(variable: "FLEET_KEY")) {
                let key = try FleetKey.environment("FLEET_KEY")
                _ = key
            }
        }

        @Test("What is going on")
        func states() async throws {
            let server = try await RedisServer()
            let fleet = try server.fleet()
            let lines = Lines()
            let watching = Task {
                for await state in fleet.states {
                    lines.append("\(state)")
                }
            }
            await eventually { lines.first != nil }
            _ = try await fleet.quota("q", perSecond: 1).reserve(for: "k", waitingAtMost: .zero)
            await eventually { if case .connected = fleet.state.connection { true } else { false } }
            fleet.close()
            await watching.value
            #expect(lines.first?.contains("connecting") == true)
        }

        private final class Lines: Sendable {
            private let all = Locked<[String]>([])

            var first: String? { all.withLock { $0.first } }

            func append(_ line: String) { all.withLock { $0.append(line) } }
        }
    }
#endif
