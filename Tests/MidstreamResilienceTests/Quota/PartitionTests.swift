import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Partitions of a quota", .leavesNothing, .timeLimit(.minutes(10)))
struct PartitionTests {
    private let bench = ArbiterBench()

    /// Says of each user's partition, named by the last letter, what the closure says.
    private func server(_ fields: @escaping @Sendable (String) -> (HTTPStatus, HTTPHeaders)) -> StubTransport {
        StubTransport { request in
            let user = request.headers[.authorization].map { String($0.suffix(1)) } ?? ""
            let (status, headers) = fields(user)
            return HTTPResponse(status: status, headers: headers, request: request)
        }
    }

    private func request(_ user: String?, _ more: HTTPHeaders = [:]) -> HTTPRequest {
        var request = HTTPRequest("/", headers: more)
        request.headers[.authorization] = user.map { "Bearer \($0)" }
        return request
    }

    @Test("what is left of one is no matter of the others")
    func left() async throws {
        let server = server { user in (200, ["RateLimit": "\"user\";r=\(user == "a" ? 0 : 9);t=30;pk=:\(user)aaa:"]) }
        let client = bench.client(server, interceptors: { RateLimit(maximumWait: .seconds(60)) })
        let first = try await client.send(request("a"))
        let event = try #require(first.trace.events(named: "quota.learned").first)
        #expect(event.attributes["left"] == 0 && event.attributes["partition"] == true)
        #expect(event.text == "https://h leaves 0 requests for 30.0 s to those with these credentials")
        #expect(await bench.waits(0, of: client, request("b")).delays.isEmpty)
        #expect(await bench.waits(0, of: client, request(nil)).delays.isEmpty)
        #expect(await bench.waits(1, of: client, request("a")).delays == [.seconds(30)])
    }

    @Test("it belongs to whose credential a request gets further in, or in its query", arguments: ["identity", "query"])
    func furtherIn(place: String) async throws {
        let server = StubTransport { request in
            let user = request.headers["X-User"] ?? String(request.urlText.suffix(1))
            let fields: HTTPHeaders = ["RateLimit": "\"user\";r=\(user == "a" ? 0 : 9);t=30;pk=:\(user)aaa:"]
            return HTTPResponse(status: 200, headers: fields, request: request)
        }
        func client(_ user: String, _ limit: RateLimit) -> HTTPClient {
            bench.client(
                server,
                interceptors: {
                    limit
                    if place == "identity" { SignedIn(user: Locked(user)) }
                })
        }
        func request(_ user: String) -> HTTPRequest { HTTPRequest(place == "query" ? "/?api_key=\(user)" : "/") }
        let limit = RateLimit(maximumWait: .seconds(60))
        _ = try await client("a", limit).send(request("a"))
        #expect(await bench.waits(0, of: client("b", limit), request("b")).delays.isEmpty)
        #expect(await bench.waits(1, of: client("a", limit), request("a")).delays == [.seconds(30)])
    }

    @Test("it isn't held against who logs in while its answer is on its way")
    func loginMeanwhile() async throws {
        let (user, answering) = (Locked("a"), Gate())
        let server = StubTransport { request in
            await answering.wait()
            let fields: HTTPHeaders = ["RateLimit": "\"user\";r=0;t=30;pk=:aaaa:"]
            return HTTPResponse(status: 200, headers: fields, request: request)
        }
        let client = bench.client(
            server,
            interceptors: {
                RateLimit(maximumWait: .seconds(60))
                SignedIn(user: user)
            })
        let first = Task { try await client.send(HTTPRequest("/")) }
        await answering.reached()
        user.withLock { $0 = "b" }
        answering.open()
        _ = try await first.value
        #expect(await bench.waits(0, of: client, HTTPRequest("/")).delays.isEmpty)
    }

    @Test("of a request that turns out to be somebody's nothing is held against others", arguments: [false, true])
    func unknown(isNested: Bool) async throws {
        let server = server { user in (200, ["RateLimit": "\"user\";r=0;t=30;pk=:\(user)aaa:"]) }
        let chain = ChainedHTTPInterceptor.chain(inOrder: [
            RateLimit(maximumWait: .seconds(60)),
            ClosureRequestInterceptor("Token", stage: .exchange) { $0.headers[.authorization] = "Bearer a" },
        ])
        let client = bench.client(
            server,
            interceptors: {
                // A pipeline takes a chain apart; an interceptor of one's own that runs one doesn't.
                if isNested {
                    ClosureHTTPInterceptor("Own", stage: .exchange) { try await chain.intercept($0, next: $1) }
                } else {
                    chain
                }
            })
        _ = try await client.send(request(nil))
        #expect(await bench.waits(0, of: client, request(nil)).delays.isEmpty)
    }

    @Test("429 with Retry-After counts for the partition that it names, and else for all")
    func retryAfter() async throws {
        let server = server { user in
            switch user {
            case "a": (429, ["Retry-After": "7", "RateLimit": "\"user\";r=0;t=7;pk=:aaaa:, \"all\";r=50;t=60"])
            case "c": (429, ["Retry-After": "5"])
            default: (200, [:])
            }
        }
        let client = bench.client(server, validators: [], interceptors: { RateLimit(maximumWait: .seconds(60)) })
        _ = try await client.send(request("a"))
        #expect(await bench.waits(0, of: client, request("b")).delays.isEmpty)
        #expect(await bench.waits(1, of: client, request("a")).delays == [.seconds(7)])
        _ = try await client.send(request("c"))
        #expect(await bench.waits(1, of: client, request("b")).delays == [.seconds(5)])
    }

    @Test("a policy makes a rate for its partition; one that the user gave holds for all together")
    func policy() async throws {
        let server = server { _ in (200, ["RateLimit-Policy": "\"user\";q=2;w=2;pk=:aaaa:"]) }
        let client = bench.client(server, interceptors: { RateLimit(maximumWait: .seconds(60)) })
        for _ in 0..<3 { _ = try await client.send(request("a")) }
        #expect(await bench.waits(1, of: client, request("a")).delays == [.seconds(1)])
        let limited = bench.client(server, interceptors: { RateLimit(perSecond: 0.5, burst: 3, maximumWait: .seconds(60)) })
        for user in ["a", "b", "a"] { _ = try await limited.send(request(user)) }
        #expect(await bench.waits(1, of: limited, request("b")).delays == [.seconds(2)])
        #expect(await bench.waits(1, of: limited, request("a")).delays == [.seconds(2)])
    }

    @Test("adaptive, a throttled partition alone slows down")
    func adaptive() async throws {
        let server = server { user in
            user == "a" ? (429, ["RateLimit": "\"user\";r=0;pk=:aaaa:"]) : (200, [:])
        }
        let client = bench.client(
            server, validators: [],
            interceptors: { RateLimit(perSecond: 4, burst: 100, maximumWait: .seconds(60), adaptive: true) })
        for _ in 0..<2 { _ = try await client.send(request("a")) }
        for _ in 0..<4 { #expect(await bench.waits(0, of: client, request("b")).delays.isEmpty) }
        #expect(await bench.waits(1, of: client, request("a")).delays.count == 1)
    }

    @Test("cookies tell whose a request is only where nothing else does")
    func cookies() async throws {
        let server = server { _ in (200, ["RateLimit": "\"user\";r=0;t=30;pk=:aaaa:"]) }
        let client = bench.client(server, interceptors: { RateLimit(maximumWait: .seconds(60)) })
        _ = try await client.send(request("a", ["Cookie": "n=1"]))
        #expect(await bench.waits(1, of: client, request("a", ["Cookie": "n=2"])).delays == [.seconds(30)])
        let other = bench.client(server, interceptors: { RateLimit(maximumWait: .seconds(60)) })
        _ = try await other.send(request(nil, ["Cookie": "n=1"]))
        #expect(await bench.waits(0, of: other, request(nil, ["Cookie": "n=2"])).delays.isEmpty)
        #expect(await bench.waits(1, of: other, request(nil, ["Cookie": "n=2"])).delays == [.seconds(30)])
    }

    @Test("a request that is refused further in gives its place in the partition back")
    func givenBack() async throws {
        let server = server { _ in (200, ["RateLimit-Policy": "\"user\";q=2;w=2;pk=:aaaa:"]) }
        let client = bench.client(
            server, interceptors: { RateLimit(perSecond: 0.01, burst: 2, maximumWait: .seconds(10)) })
        for _ in 0..<2 { _ = try await client.send(request("a")) }
        for _ in 0..<5 {
            let error = await httpError { try await client.send(request("a")) }
            #expect(error?.code == .rateLimited)
        }
    }

    @Test("no more are remembered than there is room for")
    func bounded() {
        let shelf = QuotaShelf("k", general: TokenBucket(rate: nil, burst: 1, isAdaptive: false)) {
            TokenBucket(rate: nil, burst: 1, isAdaptive: false)
        }
        #expect(shelf.partitions(of: request("0"), WireIdentity.init).isEmpty)
        let first = shelf.queue(of: "0")
        shelf.note(["0"], for: request("0"), WireIdentity())
        let second = shelf.queue(of: "1")
        for number in 1...(2 * QuotaShelf.mostPartitions) {
            // Kept, since it is used.
            #expect(shelf.partitions(of: request("0"), WireIdentity.init).first === first)
            #expect(shelf.queue(of: "\(number)") !== first)
        }
        #expect(shelf.queue(of: "1") !== second)
        for number in 1...QuotaShelf.mostCredentials { shelf.note(["0"], for: request("\(number)"), WireIdentity()) }
        #expect(shelf.partitions(of: request("0"), WireIdentity.init).isEmpty)
        #expect(shelf.partitions(of: request("\(QuotaShelf.mostCredentials)"), WireIdentity.init).first === first)
    }
}

/// Adds a user's name, and tells before.
private struct SignedIn: HTTPInterceptor {
    let user: Locked<String>
    var stage: InterceptorStage { .exchange }
    var rank: InterceptorRank { .signing }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        request.headers["X-User"] = user.withLock { $0 }
        return try await next(request)
    }

    func identity(of request: HTTPRequest) -> RequestIdentity { .user(user.withLock { $0 }) }
}
