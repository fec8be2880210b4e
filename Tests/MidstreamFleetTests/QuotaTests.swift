import Foundation
import Interception
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("A member's share of a quota", .leavesNothing)
struct LocalShareTests {
    @Test("lets in the burst, then the rate")
    func rate() {
        var share = LocalShare("", at: 0)
        (share.interval, share.burst) = (1_000, 5)
        for _ in 0..<5 { #expect(share.reserve(at: 0, waitingAtMost: .zero) == .sends(after: .zero)) }
        #expect(share.reserve(at: 0, waitingAtMost: .zero) == .refuses(wait: .microseconds(1_000)))
        #expect(share.reserve(at: 0, waitingAtMost: .seconds(1)) == .sends(after: .microseconds(1_000)))
        #expect(share.giveBack(at: 0) == false)
        #expect(share.reserve(at: 1_000, waitingAtMost: .zero) == .sends(after: .zero))
        share.drain(at: 1_000, wait: .milliseconds(5))
        #expect(share.reserve(at: 1_000, waitingAtMost: .zero) == .refuses(wait: .microseconds(5_000)))
    }

    @Test("doesn't tell the store of a place that came at once, whose request may have been refused since")
    func refusedSince() {
        var share = LocalShare("", at: 0)
        (share.interval, share.burst) = (1_000, 5)
        #expect(share.reserve(at: 0, waitingAtMost: .zero) == .sends(after: .zero))
        #expect(share.giveBack(at: 1_000) == false)
        #expect(share.giveBack(at: 61e6) == true)
    }

    @Test("lets in the burst at once at any time", arguments: [1, 2, 3])
    func unevenTime(burst: Int) {
        var share = LocalShare("", at: 3.3)
        (share.interval, share.burst) = (1e7, Double(burst))
        for _ in 0..<burst { #expect(share.reserve(at: 3.3, waitingAtMost: .zero) == .sends(after: .zero)) }
        #expect(share.reserve(at: 3.3, waitingAtMost: .zero) == .refuses(wait: .seconds(10)))
    }

    @Test("is used up by what the store has let in, and no more than that")
    func warm() {
        var share = LocalShare("", at: 0)
        (share.interval, share.burst) = (1_000, 5)
        for _ in 0..<100 { share.note(at: 0) }
        #expect(share.reserve(at: 0, waitingAtMost: .zero) == .refuses(wait: .microseconds(1_000)))
        #expect(share.reserve(at: 1_000, waitingAtMost: .zero) == .sends(after: .zero))
    }

    @Test("is one for all of the member's clients, also for one that is made anew while the store is away")
    func oneOfAMember() async throws {
        let isCut = Locked(false)
        let link = ModelLink(ModelStore(ContinuousClock()), patience: .zero) {
            isCut.withLock { $0 } ? .isLost : .arrives(after: .zero)
        }
        let core = FleetCore(name: "f", key: testKey, member: "m", clock: ContinuousClock(), store: link)
        /// Whether a client with a quota of its own may send, whose next token doesn't come while the test runs.
        func sends(_ name: String) async throws -> Bool {
            let quota = Fleet(core).quota(name, perSecond: 1e-4, burst: 2)
            return try await quota.reserve(for: "k", waitingAtMost: .zero) == .sends(after: .zero)
        }
        for _ in 1...2 { #expect(try await sends("q")) }
        isCut.withLock { $0 = true }
        #expect(try await sends("q") == false)
        for _ in 1...2 { #expect(try await sends("other")) }
        #expect(try await sends("other") == false)
    }

    @Test("gives the store back what that has let in, and no place that was reserved without it")
    func givenBack() async throws {
        let model = ModelStore(ContinuousClock())
        let isCut = Locked(false)
        // So slow that no token comes while the test runs.
        let quotas = (0..<2).map { number in
            let link = ModelLink(model, patience: .zero) {
                number == 0 && isCut.withLock { $0 } ? .isLost : .arrives(after: .zero)
            }
            let core = FleetCore(name: "f", key: testKey, member: "\(number)", clock: ContinuousClock(), store: link)
            return Fleet(core).quota("q", perSecond: 1e-4, burst: 1, longest: .seconds(1e6)) as any Quota
        }
        /// How many more places are taken in the store than may be taken at once.
        func places() async throws -> Double? {
            guard case .sends(let wait) = try await quotas[1].reserve(for: "k", waitingAtMost: .seconds(1e6)) else { return nil }
            return (wait / .seconds(1e4)).rounded()
        }
        #expect(try await places() == 0)
        #expect(try await places() == 1)
        await quotas[0].giveBack(for: "k")
        #expect(try await places() == 1)
        isCut.withLock { $0 = true }
        for _ in 1...2 { _ = try await quotas[0].reserve(for: "k", waitingAtMost: .seconds(1e6)) }
        isCut.withLock { $0 = false }
        await quotas[0].giveBack(for: "k")
        #expect(try await places() == 2)
    }
}

#if os(Linux)
    @Suite("A quota of a fleet", .leavesNothing, .timeLimit(.minutes(10)))
    struct QuotaTests {
        @Test("is one for all members", arguments: [false, true])
        func one(isSecure: Bool) async throws {
            if isSecure, !RedisServer.hasCertificates { return }
            let server = try await RedisServer(secure: isSecure)
            // So slow that no token comes while the test runs.
            let quotas = try (0..<8).map { _ in try server.fleet().quota("q", perSecond: 1e-4, burst: 50) as any Quota }
            let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for quota in quotas {
                    for _ in 0..<20 {
                        group.addTask { try await quota.reserve(for: "k", waitingAtMost: .zero) == .sends(after: .zero) }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(granted == 50)
            await quotas[0].giveBack(for: "k")
            await eventually { (try? await quotas[1].reserve(for: "k", waitingAtMost: .zero)) == .sends(after: .zero) }
            guard case .refuses(let wait) = try await quotas[2].reserve(for: "k", waitingAtMost: .seconds(5)) else {
                Issue.record("a place was given that doesn't exist")
                return
            }
            #expect(wait > .seconds(9_000) && wait <= .seconds(10_000))
            #expect(try await quotas[2].reserve(for: "other", waitingAtMost: .zero) == .sends(after: .zero))
        }

        @Test("promises places in the future, one after the other")
        func places() async throws {
            let server = try await RedisServer()
            let quota = try server.fleet().quota("q", perSecond: 0.001, burst: 1, longest: .seconds(100_000))
            var waits: [Double] = []
            for _ in 0..<4 {
                guard case .sends(let wait) = try await quota.reserve(for: "k", waitingAtMost: .seconds(60_000)) else {
                    Issue.record("no place")
                    return
                }
                waits.append((wait / .seconds(1)).rounded())
            }
            // Rounded up by less than the time that the test may take.
            #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 } && waits[0] == 0)
            #expect(waits[3] > 1_500 && waits[3] <= 3_000)
        }

        @Test("promises places to who waits for any time", arguments: [.seconds(Int64.max), .seconds(1.6e20)] as [Duration])
        func patience(longest: Duration) async throws {
            let server = try await RedisServer()
            let quota = try server.fleet().quota("q", perSecond: 0.001, burst: 1, longest: longest)
            #expect(try await quota.reserve(for: "k", waitingAtMost: longest) == .sends(after: .zero))
            guard case .sends(let wait) = try await quota.reserve(for: "k", waitingAtMost: longest) else {
                Issue.record("no place")
                return
            }
            #expect(wait > .zero)
        }

        @Test("is used up for all when the server says so to one")
        func learning() async throws {
            let server = try await RedisServer()
            let fleets = try [server.fleet(), server.fleet()]
            let clients = fleets.map { fleet in
                testClient(
                    transport: StubTransport { request in
                        HTTPResponse(
                            status: request.url.path == "/429" ? 429 : 200, headers: ["Retry-After": "600"], request: request)
                    }
                ) { RateLimit(quota: fleet.quota("q", perSecond: 100, burst: 50)) }
            }
            var request = HTTPRequest("https://h.test/429")
            request.validators = []
            #expect(try await clients[1].send(HTTPRequest("https://h.test/")).status == .ok)
            _ = try await clients[0].send(request)
            await eventually { (try? await clients[1].send(HTTPRequest("https://h.test/"))) == nil }
            let error = await #expect(throws: HTTPError.self) { try await clients[1].send(HTTPRequest("https://h.test/")) }
            #expect(error?.code == .rateLimited)
        }

        @Test("becomes the member's share while Redis is gone, and the trace says so")
        func alone() async throws {
            let server = try await RedisServer()
            let fleets = try (0..<4).map { _ in try server.fleet(members: 4) }
            // Whoever has come last has counted all.
            for fleet in fleets {
                _ = try await fleet.quota("warm", perSecond: 1).reserve(for: "k", waitingAtMost: .zero)
                await eventually { fleet.state.members >= 1 && !fleet.state.isDegraded }
            }
            let last = try #require(fleets.last)
            #expect(last.state.members == 4)
            await server.kill()
            await eventually { last.state.isDegraded }
            let quota = last.quota("q", perSecond: 1e-3, burst: 20, floor: 1e-6)
            var granted = 0
            for _ in 0..<20 where try await quota.reserve(for: "k", waitingAtMost: .zero) == .sends(after: .zero) { granted += 1 }
            #expect(granted == 5)
            let closed = last.quota("c", perSecond: 100, whenAlone: .failClosed)
            #expect(try await closed.reserve(for: "k", waitingAtMost: .zero) == .refuses(wait: .seconds(1)))
            let client = testClient(transport: StubTransport { HTTPResponse(status: 200, request: $0) }) {
                RateLimit(quota: last.quota("d", perSecond: 100))
            }
            let response = try await client.send(HTTPRequest("https://h.test/"))
            #expect(response.trace.description.contains("decided locally"))
        }
    }
#endif
