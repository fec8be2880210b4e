#if os(Linux)
    import Foundation
    import Interception
    import MidstreamAuthentication
    import MidstreamCore
    import MidstreamResilience
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamFleet

    /// Eight processes with one account, whose server and issuer are in this one.
    @Suite("Processes of a fleet", .leavesNothing, .serialized, .timeLimit(.minutes(30)))
    struct ProcessTests {
        private static let variable = "MIDSTREAM_FLEET_WORKER"
        private static var environment: [String: String] { ProcessInfo.processInfo.environment }

        /// What a worker is told: where Redis and the servers are, how many calls to make, at most at which rate and for how long.
        struct Orders: Codable {
            var redis: String
            var server: String
            var fleet: String
            var calls: Int
            var perSecond: Double?
            var seconds: Double?
        }

        @Test("makes calls", .enabled(if: environment[variable] != nil))
        func worker() async throws {
            let orders = try JSONDecoder().decode(Orders.self, from: Data(try #require(Self.environment[Self.variable]).utf8))
            let fleet = try RedisServer.fleet(at: orders.redis, name: orders.fleet)
            let first = Issuer().first
            let login = testClient()
            let endpoint = OAuthTokenEndpoint(url: orders.server + "/token", client: OAuthClient(id: "app"), using: login)
            let oauth = OAuthAuthenticator(.refreshToken(), from: endpoint, store: InMemoryTokenStore(first), leeway: .zero)
            var configuration = HTTPClient.Configuration()
            configuration.validators = []
            let client = testClient(baseURL: orders.server, configuration: configuration) {
                AuthenticationInterceptor(fleet.sharing(oauth, as: "t", whenAlone: .waits), credential: first)
                if let rate = orders.perSecond { RateLimit(quota: fleet.quota("q", perSecond: rate, burst: 10)) }
            }
            var bad: [String] = []
            let end = orders.seconds.map { ContinuousClock.now + .seconds($0) }
            for _ in 0..<orders.calls {
                if let end, ContinuousClock.now >= end { break }
                do {
                    let status = try await client.send(HTTPRequest("/api?\(getpid())")).status
                    if status != .ok { bad.append("\(status)") }
                } catch {
                    bad.append("\(error)")
                }
            }
            fleet.close()
            print("\nbad calls: \(bad.count) \(bad.first ?? "")")
        }

        /// Runs eight workers to their ends.
        static func run(_ orders: Orders) async throws -> [String] {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let text = String(decoding: try JSONEncoder().encode(orders), as: UTF8.self)
            return try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let worker = try await ChildProcess.run(
                            "/usr/bin/env",
                            ["\(variable)=\(text)", program, "--testing-library", "swift-testing", "--filter", "ProcessTests"])
                        let line = worker.text.split(separator: "\n").first { $0.hasPrefix("bad calls: ") }
                        return line.map(String.init) ?? worker.text + worker.errorText
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }

        static func serve(_ issuer: Issuer) throws -> MockServer {
            let server = try MockServer()
            server.respond { recorded in
                if recorded.path == "/token" {
                    let response = try await issuer.respond(
                        HTTPRequest(.post, "https://issuer.test/token", body: .bytes(recorded.body)))
                    return .init(status: response.status, body: response.body)
                }
                let isGood = issuer.current.map { "Bearer \($0)" } == recorded.headers[.authorization]
                return .init(status: isGood ? 200 : 401)
            }
            return server
        }

        @Test("refresh an expired token once", .enabled(if: environment[variable] == nil))
        func once() async throws {
            let redis = try await RedisServer()
            let issuer = Issuer()
            let server = try Self.serve(issuer)
            let outputs = try await Self.run(
                Orders(redis: redis.url, server: String(server.url("/").dropLast()), fleet: "f", calls: 200))
            #expect(outputs == Array(repeating: "bad calls: 0 ", count: 8))
            #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
            server.shutdown()
        }

        @Test(
            "keep one quota for a minute, each its share",
            .enabled(if: environment[variable] == nil && environment["MIDSTREAM_FLEET_ROUNDS"] != nil))
        func quota() async throws {
            let redis = try await RedisServer()
            let issuer = Issuer()
            let server = try Self.serve(issuer)
            let requests = Locked<[(process: String, time: ContinuousClock.Instant)]>([])
            server.respond { recorded in
                if recorded.path == "/token" {
                    let response = try await issuer.respond(
                        HTTPRequest(.post, "https://issuer.test/token", body: .bytes(recorded.body)))
                    return .init(status: response.status, body: response.body)
                }
                requests.withLock { $0.append((recorded.query.first?.name ?? "", .now)) }
                return .init(status: issuer.current.map { "Bearer \($0)" } == recorded.headers[.authorization] ? 200 : 401)
            }
            let outputs = try await Self.run(
                Orders(
                    redis: redis.url, server: String(server.url("/").dropLast()), fleet: "f", calls: .max, perSecond: 100,
                    seconds: 70))
            #expect(outputs == Array(repeating: "bad calls: 0 ", count: 8))
            let all = requests.withLock { $0 }
            // From when all have started to when the first ends.
            let begin = try #require(all.first?.time) + .seconds(5)
            let counted = all.filter { begin <= $0.time && $0.time < begin + .seconds(60) }
            let shares = Dictionary(grouping: counted, by: \.process).mapValues(\.count)
            print("Requests in 60 s at 100/s: \(counted.count), of each process \(shares.values.sorted())")
            #expect(abs(Double(counted.count) - 6_000) <= 30)
            #expect(shares.count == 8 && shares.values.allSatisfy { abs(Double($0) - 750) <= 150 })
            server.shutdown()
        }
    }
#endif
