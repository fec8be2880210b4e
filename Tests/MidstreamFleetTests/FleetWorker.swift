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

    /// The variable that has the orders of a process that is a member of a fleet.
    private let workersOrders = "MIDSTREAM_FLEET_WORKER"
    var isWorker: Bool { ProcessInfo.processInfo.environment[workersOrders] != nil }

    /// A process that is a member of a fleet: this program, with orders in its environment.
    @Suite("A process of a fleet", .leavesNothing, .timeLimit(.minutes(60)), .enabled(if: isWorker))
    struct FleetWorker {
        /// Where a process disappears: before it asks the issuer, before it gets the answer, and before it writes that into the store.
        enum Place: String, Codable, CaseIterable { case before, answered, unwritten }

        struct Orders: Codable {
            var redis: String
            var server: String
            var fleet: String
            var number = 0
            /// Each with an account of its own.
            var rounds = 1
            /// Of each round.
            var calls: Int
            var perSecond: Double?
            var seconds: Double?
            /// How long the lock lasts, in seconds; nil: as by default.
            var lease: Double?
            /// Tells the server when it is there.
            var place: Place?
            /// By up to an hour, another one in each process.
            var areClocksOff = false
            /// With the patience and the grace that users have by default.
            var isByDefault = false
        }

        /// What came of it.
        struct Report: Codable {
            var calls = 0
            var bad = 0
            /// That were refused by the refresh limit.
            var excessive = 0
            var firstBad: String?
            /// In milliseconds.
            var longest = 0
        }

        private static let mark = "report of a worker: "

        /// Runs one to its end.
        static func start(_ orders: Orders) async throws -> Report {
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let text = String(decoding: try JSONEncoder().encode(orders), as: UTF8.self)
            let worker = try await ChildProcess.run(
                "/usr/bin/env",
                ["\(workersOrders)=\(text)", program, "--testing-library", "swift-testing", "--filter", "FleetWorker"])
            let line = worker.text.split(separator: "\n").first { $0.hasPrefix(mark) }
            guard let line else { return Report(bad: 1, firstBad: worker.text + worker.errorText) }
            return try JSONDecoder().decode(Report.self, from: Data(line.dropFirst(mark.count).utf8))
        }

        @Test("makes calls")
        func work() async throws {
            let text = try #require(ProcessInfo.processInfo.environment[workersOrders])
            let orders = try JSONDecoder().decode(Orders.self, from: Data(text.utf8))
            let report = Locked(Report())
            for round in 0..<orders.rounds { try await work(orders, round, report) }
            let line = String(decoding: try JSONEncoder().encode(report.withLock { $0 }), as: UTF8.self)
            print("\n" + Self.mark + line)
        }

        private func work(_ orders: Orders, _ round: Int, _ report: Locked<Report>) async throws {
            let offset = orders.areClocksOff ? Double(orders.number - 4) * 900 : 0
            let now: @Sendable () -> Date = { Date() + offset }
            let clock: any Clock<Duration> = orders.areClocksOff ? OffsetClock(offset: .seconds(offset)) : ContinuousClock()
            let name = "\(orders.fleet), \(round)"
            let fleet =
                orders.isByDefault
                ? try Fleet(.redis(orders.redis), name: name, key: testKey, clock: clock)
                : try RedisServer.fleet(at: orders.redis, name: name)
            Belongings.current?.add(fleet.core)
            let first = Issuer().first
            let login = testClient()
            let endpoint = OAuthTokenEndpoint(
                url: "\(orders.server)/\(round)/token?\(getpid())", client: "app", using: login, now: now)
            let oauth = OAuthAuthenticator(
                .refreshToken(), from: endpoint, store: InMemoryTokenStore(first), leeway: .zero, now: now)
            let reporting = ReportingAuthenticator(base: oauth) { place in
                guard orders.place == place else { return }
                _ = try await login.send(HTTPRequest(RequestURL(orders.server + "/0/\(place.rawValue)?\(getpid())")))
            }
            var configuration = HTTPClient.Configuration()
            configuration.validators = []
            let client = testClient(baseURL: "\(orders.server)/\(round)/", configuration: configuration) {
                AuthenticationInterceptor(
                    fleet.sharing(reporting, as: "t", whenAlone: .waits, reuseInterval: orders.lease.map { .seconds($0) }),
                    credential: first)
                if let rate = orders.perSecond { RateLimit(quota: fleet.quota("q", perSecond: rate, burst: 10)) }
            }
            // All begin together.
            if orders.rounds > 1 { _ = try await login.send(HTTPRequest(RequestURL(orders.server + "/\(round)/start"))) }
            let end = orders.seconds.map { ContinuousClock.now + .seconds($0) }
            // Several at once where the rate is what limits them.
            let width = orders.perSecond == nil ? 1 : 3
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<width {
                    group.addTask {
                        for _ in 0..<(orders.calls / width) {
                            if let end, ContinuousClock.now >= end { break }
                            await call(client, report)
                        }
                    }
                }
            }
            fleet.close()
        }

        private func call(_ client: HTTPClient, _ report: Locked<Report>) async {
            let begin = ContinuousClock.now
            var bad: String?
            var isExcessive = false
            do {
                let status = try await client.send(HTTPRequest("api?\(getpid())")).status
                if status != .ok { bad = "\(status)" }
            } catch {
                bad = "\(error)"
                if case .tooManyRefreshes = (error as? HTTPError)?.cause as? RefreshRefusal { isExcessive = true }
            }
            let time = Int((ContinuousClock.now - begin) / .milliseconds(1))
            report.withLock { report in
                report.calls += 1
                report.longest = max(report.longest, time)
                guard let bad else { return }
                report.bad += 1
                report.firstBad = report.firstBad ?? bad
                if isExcessive { report.excessive += 1 }
            }
        }
    }

    /// Tells where a refresh is.
    private struct ReportingAuthenticator: Authenticator {
        let base: OAuthAuthenticator
        let at: @Sendable (FleetWorker.Place) async throws -> Void

        func fixedCredential() throws -> OAuthToken? { try base.fixedCredential() }
        func apply(_ credential: OAuthToken, to request: inout HTTPRequest) async throws {
            try await base.apply(credential, to: &request)
        }
        func isRejected(_ response: HTTPResponse, using credential: OAuthToken) -> Bool {
            base.isRejected(response, using: credential)
        }
        func needsRefresh(_ credential: OAuthToken) -> Bool { base.needsRefresh(credential) }
        func refresh(_ credential: OAuthToken?) async throws -> OAuthToken {
            try await at(.before)
            let token = try await base.refresh(credential)
            try await at(.unwritten)
            return token
        }
        func save(_ credential: OAuthToken?) async throws { try await base.save(credential) }
    }

    /// A clock whose times aren't those of others.
    private struct OffsetClock: Clock {
        struct Instant: InstantProtocol {
            var real: ContinuousClock.Instant
            func advanced(by duration: Duration) -> Instant { Instant(real: real.advanced(by: duration)) }
            func duration(to other: Instant) -> Duration { real.duration(to: other.real) }
            static func < (a: Instant, b: Instant) -> Bool { a.real < b.real }
        }

        let offset: Duration
        var now: Instant { Instant(real: .now + offset) }
        var minimumResolution: Duration { .nanoseconds(1) }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await ContinuousClock().sleep(until: deadline.real - offset, tolerance: tolerance)
        }
    }

    /// The server of workers, with an issuer for each round.
    final class FleetAccounts: Sendable {
        let issuers: [Issuer]
        let requests = Locked<[(process: String, time: ContinuousClock.Instant)]>([])
        private let server: MockServer

        /// - Parameter hook: Called with the place at which the refresh of a process is.
        init(
            _ count: Int, life: TimeInterval = 3600,
            hook: @escaping @Sendable (FleetWorker.Place, pid_t) async -> Void = { _, _ in }
        ) throws {
            let issuers = (0..<count).map { _ in Issuer(life: life) }
            let arrived = (0..<count).map { _ in (count: Locked(0), gate: Gate()) }
            self.issuers = issuers
            server = try MockServer()
            server.respond { [requests] recorded in
                let parts = recorded.path.split(separator: "/")
                guard parts.count == 2, let round = Int(parts[0]) else { return .init(status: 404) }
                let process = recorded.query.first?.name ?? ""
                switch parts[1] {
                case "start":
                    let all = arrived[round].count.increment()
                    if all == 8 { arrived[round].gate.open() }
                    await arrived[round].gate.wait()
                    return .init(status: 200)
                case "token":
                    let response = try await issuers[round].respond(
                        HTTPRequest(.post, "https://issuer.test/token", body: .bytes(recorded.body)))
                    if let id = pid_t(process) { await hook(.answered, id) }
                    return .init(status: response.status, body: response.body)
                case "api":
                    requests.withLock { $0.append((process, .now)) }
                    let isGood = issuers[round].current.map { "Bearer \($0)" } == recorded.headers[.authorization]
                    return .init(status: isGood ? 200 : 401)
                default:
                    if let place = FleetWorker.Place(rawValue: String(parts[1])), let id = pid_t(process) {
                        await hook(place, id)
                    }
                    return .init(status: 200)
                }
            }
        }

        var url: String { String(server.url("/").dropLast()) }

        func shutdown() { server.shutdown() }
    }
#endif
