import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A quota", .leavesNothing, .timeLimit(.minutes(10)))
struct RateLimitTests {
    private let bench = ArbiterBench()

    private func answering(_ status: HTTPStatus = 200, _ headers: HTTPHeaders = [:]) -> StubTransport {
        StubTransport(status: status, headers: headers)
    }

    @Test("a burst goes at once, the others wait for their turn")
    func rate() async throws {
        let client = bench.client(answering(), interceptors: { RateLimit(perSecond: 2, burst: 3) })
        for _ in 0..<3 { _ = try await client.send(HTTPRequest("/")) }
        let (delays, result) = await bench.waits(1, of: client)
        #expect(delays == [.milliseconds(500)])
        let event = try #require(try result.get().trace.events(named: "quota.wait").first)
        #expect(event.attributes == ["key": "https://h", "sent": true, "wait": 0.5])
        #expect(await bench.waits(1, of: client).delays == [.milliseconds(500)])
        bench.clock.advance(by: .seconds(60))
        for _ in 0..<3 { #expect(await bench.waits(0, of: client).delays.isEmpty) }
    }

    @Test("those who wait come in order, and one who leaves gives its place back")
    func fair() throws {
        var bucket = TokenBucket(rate: 1, burst: 1, isAdaptive: false)
        let waits = (0..<4).map { _ in bucket.reserve(at: 0, waitingAtMost: 3_000_000_000) }
        #expect(
            waits == [.sends(after: 0), .sends(after: 1_000_000_000), .sends(after: 2_000_000_000), .sends(after: 3_000_000_000)])
        #expect(bucket.reserve(at: 0, waitingAtMost: 3_000_000_000) == .refuses(wait: 4_000_000_000))
        bucket.giveBack()
        #expect(bucket.reserve(at: 0, waitingAtMost: 3_000_000_000) == .sends(after: 3_000_000_000))
    }

    @Test("at the end of a silence there is the burst, however many wait for it")
    func silence() {
        var bucket = TokenBucket(rate: 1, burst: 2, isAdaptive: false)
        bucket.learn(.init(), retryAfter: 10_000_000_000, isThrottled: true, begunAt: 0, at: 0)
        let waits = (0..<4).map { _ in bucket.reserve(at: 0, waitingAtMost: .max) }
        #expect(waits == [10, 10, 11, 12].map { TokenBucket.Decision.sends(after: $0 * 1_000_000_000) })
    }

    @Test("a wait that would be too long is refused, with the figures", arguments: [true, false])
    func tooLong(byDeadline: Bool) async throws {
        let client = bench.client(
            answering(), interceptors: { RateLimit(perSecond: 0.1, burst: 1, maximumWait: .seconds(byDeadline ? 60 : 5)) })
        _ = try await client.send(HTTPRequest("/"))
        var request = HTTPRequest("/")
        if byDeadline { request.deadline = .seconds(9) }
        let hasty = request
        let error = try #require(await httpError { try await client.send(hasty) })
        #expect(error.code == .rateLimited && error.phase == .notSent)
        let reason =
            byDeadline
            ? "which is longer than this one may still wait: maximumWait in all, and half of what is left of its timeout and deadline"
            : "and requests wait at most 5.0 s, the limit's maximumWait"
        #expect(
            error.message
                == "The quota of https://h is used up for 10.0 s, \(reason). Send fewer, or later, or let them wait longer.")
        #expect(error.trace?.events(named: "quota.wait").map(\.attributes["sent"]) == [false])
    }

    @Test("a retry that is refused brings the answer that it was to follow")
    func refusedRetry() async throws {
        let client = bench.client(answering(429, ["Retry-After": "120"]), maxRetries: 3, interceptors: { RateLimit() })
        let (delays, result) = await bench.waits(1, of: client)
        // A longer one is cut.
        #expect(delays == [.seconds(60)])
        let error = try #require(result.httpError)
        #expect(error.code == .rateLimited && error.phase == .answered)
        #expect(error.response?.status == .tooManyRequests && error.response?.headers["Retry-After"] == "120")
        #expect(error.trace?.events(named: "quota.wait").map(\.attributes["sent"]) == [false])
    }

    @Test("a longest wait of less than nothing is none")
    func negativeWait() async throws {
        let client = bench.client(answering(), interceptors: { RateLimit(perSecond: 1, maximumWait: .seconds(Int64.min)) })
        _ = try await client.send(HTTPRequest("/"))
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .rateLimited)
        _ = try await client.explain(HTTPRequest("/"))
    }

    @Test("a request waits for half of its time at most, so that some is left for the answer")
    func half() async throws {
        let client = bench.client(answering(), interceptors: { RateLimit(perSecond: 0.5, burst: 1) })
        _ = try await client.send(HTTPRequest("/"))
        var request = HTTPRequest("/")
        request.timeout = .seconds(3)
        let (delays, result) = await bench.waits(0, of: client, request)
        #expect(delays.isEmpty && result.httpError?.code == .rateLimited)
        request.timeout = .seconds(4)
        let call = Task { [request] in try await client.send(request) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(2))
        _ = try await call.value
    }

    @Test("one field doesn't shut an origin for good")
    func shut() async throws {
        let headers = Locked<HTTPHeaders>(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999999999999"])
        let status = Locked(200)
        let stub = StubTransport { request in
            HTTPResponse(status: HTTPStatus(status.withLock { $0 }), headers: headers.withLock { $0 }, request: request)
        }
        let client = bench.client(stub, validators: [], interceptors: { RateLimit(dialect: .resetSeconds) })
        _ = try await client.send(HTTPRequest("/"))
        // That is no time.
        _ = try await client.send(HTTPRequest("/"))
        for (code, fields) in [
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "999999999"]), (429, ["Retry-After": "999999999"]),
            (200, ["RateLimit": "\"a\";r=0;t=999999999"]),
        ] as [(Int, HTTPHeaders)] {
            headers.withLock { $0 = fields }
            status.withLock { $0 = code }
            _ = try await client.send(HTTPRequest("/"))
            #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .rateLimited)
            bench.clock.advance(by: .seconds(86_400))
        }
        _ = try await client.send(HTTPRequest("/"))
    }

    @Test("nor does a policy", arguments: ["\"a\";q=1;w=999999999", "\"a\";q=1;w=31536000"])
    func longPolicy(policy: String) async throws {
        let stub = StubTransport(status: 200, headers: ["RateLimit-Policy": policy])
        let client = bench.client(stub, validators: [], interceptors: { RateLimit() })
        // The first one has learned of it.
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("/")) }
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .rateLimited)
        bench.clock.advance(by: .seconds(86_400))
        _ = try await client.send(HTTPRequest("/"))
    }

    @Test("a cancelled wait gives its place back")
    func cancelled() async throws {
        let client = bench.client(answering(), interceptors: { RateLimit(perSecond: 1, burst: 1) })
        _ = try await client.send(HTTPRequest("/"))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await bench.waits(1, of: client).delays == [.seconds(1)])
    }

    @Test("what the server says is left is kept to")
    func left() async throws {
        let client = bench.client(
            answering(200, ["RateLimit": "\"a\";r=2;t=30"]), interceptors: { RateLimit(maximumWait: .seconds(60)) })
        let first = try await client.send(HTTPRequest("/"))
        #expect(first.trace.events(named: "quota.learned").first?.attributes["left"] == 2)
        let empty = bench.client(
            answering(200, ["RateLimit": "\"a\";r=0;t=30"]), interceptors: { RateLimit(maximumWait: .seconds(60)) })
        _ = try await empty.send(HTTPRequest("/"))
        #expect(await bench.waits(1, of: empty).delays == [.seconds(30)])
    }

    @Test("what never reached the server takes nothing of what that has left")
    func unsent() async throws {
        let isOnline = Locked(true)
        let stub = StubTransport { request in
            guard isOnline.withLock({ $0 }) else { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 200, headers: ["RateLimit": "\"a\";r=3;t=3600"], request: request)
        }
        let client = bench.client(stub, maxRetries: 0, interceptors: { RateLimit() })
        _ = try await client.send(HTTPRequest("/"))
        isOnline.withLock { $0 = false }
        for _ in 0..<3 { #expect(await httpError { try await client.send(HTTPRequest("/")) }?.cause == .connection) }
        isOnline.withLock { $0 = true }
        _ = try await client.send(HTTPRequest("/"))
    }

    @Test("a late answer says nothing of what is left to those who were sent after it")
    func late() async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            let isSlow = request.urlText.hasSuffix("/slow")
            if isSlow { await gate.wait() }
            return HTTPResponse(status: 200, headers: ["RateLimit": "\"a\";r=\(isSlow ? 9 : 0);t=30"], request: request)
        }
        let client = bench.client(stub, interceptors: { RateLimit(maximumWait: .seconds(60)) })
        async let slow = client.send(HTTPRequest("/slow"))
        await gate.reached()
        bench.clock.advance(by: .seconds(1))
        _ = try await client.send(HTTPRequest("/"))
        gate.open()
        _ = try await slow
        #expect(await bench.waits(1, of: client).delays == [.seconds(30)])
    }

    @Test("nothing is added to what the server has said since a request was sent that never reached it")
    func unsentBefore() {
        var bucket = TokenBucket(rate: nil, burst: 1, isAdaptive: false)
        #expect(bucket.reserve(at: 0, waitingAtMost: 0) == .sends(after: 0))
        let said = RateLimitFields(["RateLimit": "\"a\";r=0;t=30"], nil, now: 0).general
        bucket.learn(said, retryAfter: nil, isThrottled: false, begunAt: 1, at: 1)
        let isGivenBack = bucket.giveBackLeft(takenAt: 0)
        #expect(!isGivenBack)
        #expect(bucket.reserve(at: 1, waitingAtMost: 0) == .refuses(wait: 30_000_000_000))
    }

    @Test("that less is left is believed, whichever answer says so")
    func lessIsLeft() {
        var bucket = TokenBucket(rate: nil, burst: 1, isAdaptive: false)
        for (left, begun) in [(5, Int64(2)), (0, 1)] {
            let said = RateLimitFields(["RateLimit": "\"a\";r=\(left);t=30"], nil, now: 0).general
            bucket.learn(said, retryAfter: nil, isThrottled: false, begunAt: begun, at: 3)
        }
        #expect(bucket.reserve(at: 3, waitingAtMost: 0) == .refuses(wait: 30_000_000_000))
    }

    @Test("a policy makes a rate, when none is given")
    func policy() {
        var bucket = TokenBucket(rate: nil, burst: 1, isAdaptive: false)
        #expect(bucket.reserve(at: 0, waitingAtMost: 0) == .sends(after: 0))
        bucket.learn(
            RateLimitFields(["RateLimit-Policy": "\"a\";q=4;w=2"], nil, now: 0).general, retryAfter: nil, isThrottled: false,
            begunAt: 0, at: 0)
        for _ in 0..<4 { #expect(bucket.reserve(at: 0, waitingAtMost: 0) == .sends(after: 0)) }
        #expect(bucket.reserve(at: 0, waitingAtMost: 0) == .refuses(wait: 500_000_000))
    }

    @Test("a policy alone is no wish to be left alone, which a 429 is", arguments: [200, 429] as [HTTPStatus])
    func policyAlone(status: HTTPStatus) async throws {
        let server = answering(status, ["RateLimit-Policy": "\"a\";q=4;w=2"])
        let client = bench.client(server, validators: [], interceptors: { RateLimit() })
        let event = try #require(try await client.send(HTTPRequest("/")).trace.events(named: "quota.learned").first)
        #expect(event.text == "https://h \(status == 200 ? "says what its policy is" : "asks to be left alone")")
    }

    @Test("429 with Retry-After wins over the fields")
    func retryAfter() async throws {
        let throttling = answering(429, ["Retry-After": "7", "RateLimit": "\"a\";r=100;t=1"])
        let client = bench.client(throttling, validators: [], interceptors: { RateLimit() })
        _ = try await client.send(HTTPRequest("/"))
        #expect(await bench.waits(1, of: client).delays == [.seconds(7)])
    }

    @Test("an answer that a cache on the way has kept holds nobody up, but for the rest of its Retry-After")
    func kept() async throws {
        let kept = bench.client(answering(200, ["RateLimit": "\"a\";r=0;t=30", "Age": "10"]), interceptors: { RateLimit() })
        let response = try await kept.send(HTTPRequest("/"))
        #expect(response.trace.events(named: "quota.learned").isEmpty)
        #expect(await bench.waits(0, of: kept).delays.isEmpty)
        let refusal = answering(429, ["Retry-After": "7", "RateLimit": "\"a\";r=0;t=30", "Age": "5"])
        let refused = bench.client(refusal, validators: [], interceptors: { RateLimit() })
        _ = try await refused.send(HTTPRequest("/"))
        #expect(await bench.waits(1, of: refused).delays == [.seconds(2)])
    }

    @Test(
        "nothing malformed makes it crash or wait past the longest wait",
        arguments: [
            "-5", "1e99", String(repeating: "9", count: 300), "", "soon",
        ])
    func malformed(value: String) async throws {
        let client = bench.client(
            answering(429, ["Retry-After": value, "RateLimit": value]), validators: [], interceptors: { RateLimit() })
        let response = try await client.send(HTTPRequest("/"))
        let malformed = response.trace.events(named: "quota.learned").first?.attributes["malformed"]
        #expect(malformed == (value.isEmpty ? nil : "RateLimit"))
        let (delays, _) = await bench.waits(0, of: client)
        #expect(delays.isEmpty)
    }

    @Test("no time of day makes it crash", arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func oddTime(now: Double) async throws {
        for headers in [
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000000"], ["Retry-After": "Fri, 15 Jan 2027 08:00:00 GMT"],
        ] as [HTTPHeaders] {
            let client = bench.client(answering(429, headers), validators: []) {
                $0.now = { Date(timeIntervalSince1970: now) }
            } interceptors: {
                RateLimit(dialect: .resetTime)
            }
            let response = try await client.send(HTTPRequest("/"))
            #expect(response.trace.events(named: "quota.learned").count == 1)
        }
    }

    @Test("when adaptive, a 429 halves the rate, which comes back by a tenth a second")
    func adaptive() {
        var bucket = TokenBucket(rate: 10, burst: 10, isAdaptive: true)
        _ = bucket.reserve(at: 0, waitingAtMost: 0)
        bucket.learn(.init(), retryAfter: nil, isThrottled: true, begunAt: 0, at: 10)
        #expect(bucket.rate == 5)
        // It was under way already.
        bucket.learn(.init(), retryAfter: nil, isThrottled: true, begunAt: 9, at: 10)
        #expect(bucket.rate == 5)
        bucket.learn(.init(), retryAfter: nil, isThrottled: true, begunAt: 10, at: 10)
        #expect(bucket.rate == 2.5)
        _ = bucket.reserve(at: 2_000_000_010, waitingAtMost: 0)
        #expect(bucket.rate == 4.5)
        _ = bucket.reserve(at: 60_000_000_000, waitingAtMost: 0)
        #expect(bucket.rate == 10)
        var plain = TokenBucket(rate: 10, burst: 10, isAdaptive: false)
        plain.learn(.init(), retryAfter: nil, isThrottled: true, begunAt: 0, at: 0)
        #expect(plain.rate == 10)
    }

    @Test("strange settings are bent into shape", arguments: [0, -1, Double.nan, .infinity, 1e300])
    func strange(rate: Double) {
        var bucket = TokenBucket(rate: rate, burst: rate, isAdaptive: true)
        for now in [Int64.min, 0, .max] { _ = bucket.reserve(at: now, waitingAtMost: .max) }
        bucket.learn(.init(), retryAfter: .max / 4, isThrottled: true, begunAt: 0, at: 0)
    }

    @Test("its plan says what the limit is")
    func plan() async throws {
        let client = bench.client(answering(), interceptors: { RateLimit(perSecond: 2) })
        #expect(
            "\(try await client.explain(HTTPRequest("/")))".contains("2.0 requests a second, 2 at once; waits up to 10.0 s"))
    }
}
