import Foundation
import Interception
import MidstreamCore
import MidstreamResilience
import TestSupport
import Testing

@testable import MidstreamTesting

@Suite("Simulations", .leavesNothing, .timeLimit(.minutes(10)))
struct SimulationTests {
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    private func run(
        _ model: ServerModel, perSecond: Double = 50, seconds: Int = 20,
        _ configure: @escaping @Sendable (inout HTTPClient.Configuration) -> Void = { _ in },
        @IncidentBuilder during incidents: () -> Incidents = { Incidents() }
    ) async throws -> SimulationReport {
        try await Simulation(seed: 1) { world in
            var configuration = world.configuration
            configure(&configuration)
            return testClient(configuration: configuration, transport: world.transport)
        } server: {
            model
        } load: {
            .poisson(perSecond: perSecond)
        } during: {
            incidents()
        }.run(for: .seconds(seconds))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("one worker with exponential work is as busy as theory says: the mean time is 1 / (µ - λ)")
    func theory() async throws {
        let times = Locked<[Duration]>([])
        _ = try await Simulation(seed: 5) { world in
            testClient(configuration: world.configuration, transport: world.transport) {
                ClosureHTTPInterceptor { request, next in
                    let start = world.clock.now
                    let response = try await next(request)
                    times.withLock { $0.append(start.duration(to: world.clock.now)) }
                    return response
                }
            }
        } server: {
            ServerModel(workers: 1, service: .exponential(mean: .milliseconds(20)))
        } load: {
            .poisson(perSecond: 25)
        }.run(for: .seconds(200))
        let all = times.withLock { $0 }
        let mean = all.reduce(.zero, +) / all.count / .milliseconds(1)
        #expect(abs(mean - 40) < 4)
        #expect(abs(all.count - 5_000) < 250)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a bounded queue sheds, errors and losses are a share, an unreachable server is")
    func effects() async throws {
        let quick = ServerModel(workers: 100, service: .constant(.milliseconds(10)))
        let limits: @Sendable (inout HTTPClient.Configuration) -> Void = { $0.timeout = .seconds(1) }
        #expect(try await run(quick).goodput(0..<20) == 1)
        let shed = try await run(ServerModel(workers: 1, service: .constant(.milliseconds(40)), queue: .bounded(2)))
        #expect(shed.goodput(0..<20) < 0.6)
        #expect(abs(try await run(quick, during: { .from(0, to: 30, .errors(0.3, status: 500)) }).goodput(0..<20) - 0.7) < 0.05)
        #expect(abs(try await run(quick, limits, during: { .from(0, to: 30, .loss(0.3)) }).goodput(0..<20) - 0.7) < 0.05)
        let cut = try await run(quick, during: { .from(0, to: 30, .fault(.disconnect(.beforeHead), share: 0.4)) })
        #expect(abs(cut.goodput(0..<20) - 0.6) < 0.05)
        let late = try await run(quick, during: { .from(0, to: 30, .fault(.delay(.constant(.milliseconds(200))))) })
        #expect(late.rows[5].p99 == .milliseconds(210))
        let down = try await run(quick, during: { .from(5, to: 10, .unreachable) })
        #expect(down.goodput(5..<10) == 0 && down.goodput(0..<5) == 1)
        #expect(down.sendsPerCall(5..<10) == 0 && down.sendsPerCall(0..<5) == 1)
        #expect(down.recovery(after: 10) == 0 && down.recovery(after: 5) == 5)
        let quota = try await run(ServerModel(workers: 100, service: .constant(.zero), quota: .init(rate: 25, burst: 1)))
        // Of a bucket with one token those are lost that come into it while it is full: λ / (λ + µ) are refused.
        #expect(abs(quota.goodput(0..<20) - 0.33) < 0.08)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a second without calls is no recovery")
    func quietSeconds() async throws {
        let report = try await Simulation(seed: 1) { world in
            testClient(configuration: world.configuration, transport: world.transport)
        } server: {
            ServerModel(workers: 1, service: .constant(.zero))
        } load: {
            .constant(perSecond: 0.2)
        } during: {
            .from(0, to: 22, .errors(1, status: 500))
        }.run(for: .seconds(40))
        let last = try #require(report.rows.last { $0.calls > 0 && $0.good == 0 })
        let next = try #require(report.rows.first { $0.second > last.second && $0.calls > 0 })
        #expect(report.recovery(after: 11) == next.second - 11, "\(report)")
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a body that can be read once is sent again only where nothing of it was sent")
    func bodiesReadOnce() async throws {
        let cases: [(Incidents, sends: Double, attempts: Int)] = [
            (Incidents(), 1, 1), (.from(0, to: 30, .errors(1, status: 503)), 1, 1), (.from(0, to: 30, .loss(1)), 1, 1),
            (.from(0, to: 30, .unreachable), 0, 2),
        ]
        for (incidents, sends, attempts) in cases {
            let tried = Locked(0)
            let report = try await Simulation(seed: 1) { world in
                var configuration = world.configuration
                (configuration.timeout, configuration.maxRetries, configuration.retryBudget) = (.seconds(1), 1, nil)
                return testClient(configuration: configuration, transport: world.transport) {
                    ClosureHTTPInterceptor { request, next in
                        tried.withLock { $0 += 1 }
                        return try await next(request)
                    }.at(.exchange)
                }
            } server: {
                ServerModel(
                    workers: 10, service: .constant(.milliseconds(1)),
                    respond: { HTTPResponse(status: .serviceUnavailable, request: $0) })
            } load: {
                .constant(perSecond: 1).requests { _ in
                    HTTPRequest(.put, "https://server.test/", body: .once(HTTPBody.bytes([1])))
                }
            } during: {
                incidents
            }.run(for: .seconds(10))
            #expect(report.goodput(0..<10) == 0 && report.sendsPerCall(0..<10) == sends, "\(report)")
            #expect(tried.withLock { $0 } == 10 * attempts)
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("calls a hair's breadth before the end count in the last second", arguments: [3.0, 7, 14, 49, 93])
    func lastSecond(perSecond: Double) async throws {
        let report = try await Simulation(seed: 1) { world in
            testClient(configuration: world.configuration, transport: world.transport)
        } server: {
            ServerModel(workers: 1, service: .constant(.zero))
        } load: {
            .constant(perSecond: perSecond)
        }.run(for: .seconds(4))
        #expect(report.rows.map(\.calls) == Array(repeating: Int(perSecond), count: 4))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("calls at given times are made at these, in each period; those outside of it aren't")
    func givenTimes() async throws {
        func calls(_ times: [Double], every period: Double, share: Double = 1) async throws -> [Int] {
            try await Simulation(seed: 1) { world in
                testClient(configuration: world.configuration, transport: world.transport)
            } server: {
                ServerModel(workers: 1, service: .constant(.zero))
            } load: {
                .at(times.map { .seconds($0) }, every: .seconds(period), share: share)
            }.run(for: .seconds(6)).rows.map(\.calls)
        }
        #expect(try await calls([1.5, 0, 0, 3, -1], every: 3) == [2, 1, 0, 2, 1, 0])
        #expect(try await calls([1.5, 0, 0, 0, 0, 0, 0, 0], every: 3, share: 0.5) == [4, 0, 0, 4, 0, 0])
        #expect(try await calls([0.5], every: 1, share: 0.5) == [1, 0, 1, 0, 1, 0])
        #expect(try await calls([], every: 1) == [0, 0, 0, 0, 0, 0])
        #expect(try await calls([0], every: 0) == [0, 0, 0, 0, 0, 0])
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("connections that hang are timeouts before anything is sent, and open a breaker")
    func connectTimeouts() async throws {
        let breaker = CircuitBreaker()
        let phases = Locked<Set<HTTPError.Phase>>([])
        let report = try await Simulation(seed: 1) { world in
            testClient(configuration: world.configuration, transport: world.transport) {
                breaker
                ClosureHTTPInterceptor { request, next in
                    do { return try await next(request) } catch let error as HTTPError {
                        phases.withLock { _ = $0.insert(error.phase) }
                        throw error
                    }
                }
            }
        } server: {
            ServerModel(workers: 10, service: .constant(.milliseconds(10)))
        } load: {
            .constant(perSecond: 20)
        } during: {
            .from(5, to: 15, .connectTimeout(.seconds(1)))
        }.run(for: .seconds(20))
        #expect(report.goodput(0..<5) == 1 && report.goodput(5..<15) == 0 && phases.withLock { $0 } == [.notSent])
        #expect(report.rows[13].client?.breaker?.name == "open" && report.rows[13].refused == 20 && report.rows[13].sends == 0)
    }

    /// By the definition: the least of the times that at least this share of them doesn't exceed.
    private func reference(_ share: Double, of times: [Duration]) -> Duration? {
        times.filter { time in Double(times.filter { $0 <= time }.count) >= share * Double(times.count) - 1e-9 }.min()
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("the figures are those of their definitions, and no second's are lost in a line", arguments: [20, 400])
    func figures(seconds: Int) async throws {
        let calls = Locked<[(start: Double, time: Duration)]>([])
        let report = try await Simulation(seed: 3) { world in
            testClient(configuration: world.configuration, transport: world.transport) {
                ClosureHTTPInterceptor(stage: .call) { request, next in
                    let start = world.clock.now
                    let response = try await next(request)
                    let time = start.duration(to: world.clock.now)
                    calls.withLock { $0.append((start.offset / .seconds(1), time)) }
                    return response
                }
            }
        } server: {
            ServerModel(workers: 100, service: .bimodal(.constant(.milliseconds(10)), share: 0.02, takes: .constant(.seconds(2))))
        } load: {
            .constant(perSecond: 10)
        }.run(for: .seconds(seconds))
        let all = calls.withLock { $0 }
        func times(_ seconds: Range<Int>) -> [Duration] { all.filter { seconds.contains(Int($0.start)) }.map(\.time) }
        for row in report.rows {
            let times = times(row.second..<(row.second + 1))
            #expect(row.good == times.count && row.p50 == reference(0.5, of: times) && row.p99 == reference(0.99, of: times))
        }
        let step = (seconds + 39) / 40
        for (number, line) in "\(report)".split(separator: "\n").dropFirst().enumerated() {
            let part = (number * step)..<min(seconds, (number + 1) * step)
            let p99 = try #require(reference(0.99, of: times(part)))
            #expect(line.contains(" \(p99.rounded) "))
            #expect(line.contains("  \(report.rows[part].map(\.load).max() ?? 0)  "))
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("the limit of a line is the lowest of its seconds, its breaker the last that wasn't closed", arguments: [30, 120])
    func clientFigures(seconds: Int) async throws {
        let (limit, breaker) = (ConcurrencyLimit(.adaptive()), CircuitBreaker())
        let report = try await Simulation(seed: 3) { world in
            testClient(configuration: world.configuration, transport: world.transport) {
                limit
                breaker
            }
        } server: {
            ServerModel(workers: 20, service: .constant(.milliseconds(20)))
        } load: {
            .constant(perSecond: 100)
        } during: {
            .from(5, to: 15, .connectTimeout(.seconds(1)))
                .from(20, to: 30, .errors(0.5, status: 429))
        }.run(for: .seconds(seconds))
        let step = (seconds + 39) / 40
        var texts: Set<String> = []
        for (number, line) in "\(report)".split(separator: "\n").dropFirst().enumerated() {
            let rows = report.rows[(number * step)..<min(seconds, (number + 1) * step)]
            let limits = rows.compactMap { $0.client?.concurrency?.limit }
            let breakers = rows.compactMap { $0.client?.breaker?.name }
            var (lowest, last) = (Int.max, "closed")
            for limit in limits where limit < lowest { lowest = limit }
            for breaker in breakers where breaker != "closed" { last = breaker }
            #expect(limits.count == rows.count && breakers.count == rows.count)
            #expect(line.split(separator: " ").suffix(2) == ["\(lowest)", "\(last)"])
            texts.insert("\(last) \(limits.min() == limits.last)")
        }
        // A line of one second has one limit. Of those of several some end with another one than their lowest.
        #expect(texts.contains { $0.hasPrefix("open") } && texts.contains { $0.hasSuffix("false") } == (step > 1))
    }

    @Test("one slow call of a hundred isn't the 99th percentile")
    func quantiles() {
        for count in 1...120 {
            let times = (1...count).map { Duration.milliseconds($0) }
            for share in [0.5, 0.95, 0.99, 1] { #expect(times.quantile(share) == reference(share, of: times)) }
        }
        #expect([Duration]().quantile(0.5) == nil)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("one bad replica of two, and a cache that fills")
    func replicas() async throws {
        let model = ServerModel(workers: 100, service: .constant(.milliseconds(10)), replicas: 2)
        let bad = try await run(model, during: { .from(0, to: 30, .replica(1, slower: 50)) })
        #expect(bad.rows[5].p99 == .milliseconds(500))
        let cold = try await run(model, during: { .from(0, to: 20, .cold(11)) })
        let (early, late) = try (#require(cold.rows[0].p99), #require(cold.rows[19].p99))
        #expect(early > .milliseconds(100) && late < .milliseconds(20))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("factors of any size", arguments: [Double.infinity, 1e300, -.infinity, .nan])
    func largestFactors(factor: Double) async throws {
        for effect in [.slower(factor), .cold(factor), .replica(0, slower: factor)] as [Incidents.Effect] {
            let report = try await run(
                ServerModel(workers: 1_000, service: .constant(.milliseconds(10))), seconds: 6,
                {
                    $0.timeout = .seconds(1)
                    $0.maxRetries = 0
                }, during: { .from(2, to: 4, effect) })
            #expect(report.goodput(0..<2) == 1 && report.goodput(2..<4) == (factor < 0 ? 1 : 0))
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("times and rates of any size")
    func largestTimes() async throws {
        let ages = Duration.seconds(1.6e20)
        for service in [.constant(ages), .exponential(mean: ages), .lognormal(median: .seconds(1), p99: ages)] as [ServiceTime] {
            let report = try await run(ServerModel(workers: 1, service: service), seconds: 5, { $0.timeout = .seconds(1) })
            #expect(report.calls(0..<5) > 0)
        }
        let quick = ServerModel(workers: 100, service: .constant(.milliseconds(10)))
        let down = try await run(quick, during: { .from(-.infinity, to: .infinity, .unreachable) })
        #expect(down.goodput(0..<20) == 0)
        let random = SimulatedRandom(seed: 1)
        for load in [.constant(perSecond: .infinity), .poisson(perSecond: 1e300)] as [SimulatedLoad] {
            #expect(try #require(load.time(of: 1, after: .zero, random)) > .nanoseconds(1))
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a call that hangs for ever is told, and the simulation ends")
    func stalls() async throws {
        let report = try await run(
            ServerModel(workers: 1, service: .constant(.milliseconds(1))), perSecond: 2, seconds: 2, { $0.timeout = nil },
            during: { .from(0, to: 5, .loss(1)) })
        #expect(!report.stalled.isEmpty)
        #expect("\(report)".contains("GET https://server.test/ has waited since"))
        #expect(report.goodput(0..<2) == 0)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("one whose task is cancelled begins no other calls, and ends with those that are open")
    func cancelled() async throws {
        let (calls, runner, begins) = (Locked(0), Locked<Task<SimulationReport, any Error>?>(nil), Gate())
        let simulation = Simulation(seed: 1) { world in
            testClient(configuration: world.configuration, transport: world.transport) {
                ClosureHTTPInterceptor { request, next in
                    let number = calls.increment()
                    if number == 10 { runner.withLock { $0 }?.cancel() }
                    return try await next(request)
                }
            }
        } server: {
            ServerModel(workers: 10, service: .constant(.milliseconds(10)))
        } load: {
            .constant(perSecond: 1)
        }
        let run = Task {
            await begins.wait()
            return try await simulation.run(for: .seconds(1_000))
        }
        runner.withLock { $0 = run }
        begins.open()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(calls.withLock { $0 } == 10)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("before an outage that has begun already there was nothing to go wrong")
    func earlyOutage() async throws {
        let comparison = try await OutageComparison(
            of: -5..<2, within: 4,
            clients: ["plain": { testClient(configuration: $0.configuration, transport: $0.transport) }],
            server: ServerModel(workers: 10, service: .constant(.milliseconds(10))), load: .poisson(perSecond: 20),
            effect: .slower(2))
        #expect(comparison.rows.map(\.goodputBefore) == [1])
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a report is one page, that needs nothing else")
    func html() async throws {
        let report = try await run(ServerModel(workers: 10, service: .constant(.milliseconds(10))), seconds: 5)
        let page = report.html(title: "A \u{600}<b> & c")
        #expect(page.utf8.firstRange(of: "<title>A \u{600}&lt;b&gt; &amp; c</title>".utf8) != nil)
        #expect(page.components(separatedBy: "<polyline points=\"0.0,").count == 6)
        #expect(!page.contains("http:") && !page.contains("script>"))
        #expect(page == report.html(title: "A \u{600}<b> & c"))
    }

    @Test("random numbers are those of their distributions")
    func random() {
        let random = SimulatedRandom(seed: 9)
        let count = 20_000
        func mean(_ time: ServiceTime) -> Double {
            (0..<count).reduce(0) { sum, _ in sum + time.time(random) / .milliseconds(1) } / Double(count)
        }
        #expect(abs(mean(.exponential(mean: .milliseconds(100))) - 100) < 4)
        #expect(mean(.constant(.milliseconds(7))) == 7)
        #expect(abs(mean(.bimodal(.constant(.zero), share: 0.05, takes: .constant(.seconds(1)))) - 50) < 8)
        #expect(abs(mean(.samples([.milliseconds(10), .milliseconds(30)])) - 20) < 1)
        #expect(mean(.samples([])) == 0)
        let lognormal = ServiceTime.lognormal(median: .milliseconds(80), p99: .milliseconds(400))
        let times = (0..<count).map { _ in lognormal.time(random) }.sorted()
        #expect(abs(times[count / 2] / .milliseconds(1) - 80) < 4)
        #expect(abs(times[count * 99 / 100] / .milliseconds(1) - 400) < 40)
        #expect(SimulatedRandom(seed: 1).next() == SimulatedRandom(seed: 1).next())
    }

    @Test("the clock jumps from one event to the next, in order, and sleepers can be cancelled")
    func clock() async {
        let clock = SimulatedClock()
        let steps = Steps()
        for (seconds, name) in [(3, "c"), (1, "a"), (2, "b"), (1, "a2")] {
            clock.schedule(at: .seconds(seconds)) { steps.note("\(name) at \(clock.now)") }
        }
        while clock.step() {}
        #expect(steps.all == ["a at 1.0 seconds", "a2 at 1.0 seconds", "b at 2.0 seconds", "c at 3.0 seconds"])
        let sleeper = Task { try await clock.sleep(for: .seconds(5)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.minimumResolution == .nanoseconds(1))
    }
}
