import Midstream
import MidstreamTesting
import Synchronization
import Testing

/// Answers with the credential that it sees.
private struct Echo: HTTPTransport {
    var certificate: String?
    var identity: RequestIdentity { certificate.map(RequestIdentity.user) ?? .nobody }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let names: [HTTPHeaders.Name] = [.authorization, .cookie, "X-API-Key"]
        let seen = names.compactMap { request.headers[$0] }.first ?? certificate ?? "nobody"
        return HTTPResponse(status: .ok, body: .text(seen), request: request)
    }
}

/// Signs requests further in than any cache, and says so or doesn't.
private struct Signer: RequestInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.signing
    let user: String
    let isKnown: Bool

    func intercept(request: inout HTTPRequest) async throws { request.headers[.authorization] = user }

    func identity(of request: HTTPRequest) -> RequestIdentity { isKnown ? .user(user) : .unknown }
}

/// Says whose requests are by who is logged in.
private final class Login: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.signing
    let name = Mutex("ann")

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next(request)
    }

    func identity(of request: HTTPRequest) -> RequestIdentity { .user(name.withLock { $0 }) }
}

@Suite("Parts that know the public API alone", .timeLimit(.minutes(10)))
struct OwnPartsTests {
    /// Answers to `/` at once, and to anything else never.
    private let stub = StubTransport { request in
        if !request.urlText.hasSuffix("/") { try await Task.sleep(for: .seconds(3_600)) }
        return HTTPResponse(status: .ok, body: .text("answer"), request: request)
    }

    private func code(of request: HTTPRequest, by client: HTTPClient) async -> HTTPError.Code? {
        do { _ = try await client.send(request) } catch { return (error as? HTTPError)?.code }
        return nil
    }

    @Test("the queue of a limit ends by the deadline, and its permits come back")
    func limit() async throws {
        let limit = OwnLimit(1)
        let client = HTTPClient(transport: stub) { limit }
        let first = Task { try await client.send(HTTPRequest("https://h/slow")) }
        while limit.state.free > 0 { await Task.yield() }
        var hasty = HTTPRequest("https://h/")
        hasty.deadline = .milliseconds(50)
        #expect(await code(of: hasty, by: client) == .deadlineExceeded)
        #expect(limit.state.free == 0 && limit.state.waiting == 0)
        let third = Task { try await client.send(HTTPRequest("https://h/")) }
        while limit.state.waiting == 0 { await Task.yield() }
        first.cancel()
        let trace = try await third.value.trace
        #expect("\(trace)".contains("waited for a permit"))
        #expect(limit.state.free == 1 && limit.state.waiting == 0)
    }

    @Test("a permit is held until a streamed body ends")
    func body() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: .text("streamed")) }
        let limit = OwnLimit(1)
        let client = HTTPClient { limit }
        let response = try await client.stream(HTTPRequest(server.url()))
        #expect(limit.state.free == 0)
        #expect(try await response.body.collect() == Array("streamed".utf8))
        #expect(limit.state.free == 1)
    }

    @Test("what was stored answers")
    func cache() async throws {
        let client = HTTPClient(transport: stub) { OwnCache() }
        for _ in 0..<3 { #expect(try await client.send(HTTPRequest("https://h/")).body.bytes == Array("answer".utf8)) }
        #expect(stub.requests.count == 1)
    }

    @Test("two users of a cache get their own answers, wherever their credentials come from")
    func users() async throws {
        let cache = OwnCache()
        let silent = ClosureRequestInterceptor(stage: .exchange) { _ in }
        func expect(_ user: String, isKept: Bool = true, _ client: HTTPClient, _ headers: HTTPHeaders = [:]) async throws {
            for isSecond in [false, true] {
                let response = try await client.send(HTTPRequest("https://h/", headers: headers))
                #expect(response.body.bytes == Array(user.utf8))
                #expect(response.trace.events(named: "own.cache.hit").isEmpty != (isSecond && isKept))
            }
        }
        try await expect("nobody", HTTPClient(transport: Echo()) { cache })
        for user in ["ann", "bob"] {
            let plain = HTTPClient(transport: Echo()) { cache }
            try await expect(user, plain, [.authorization: user])
            try await expect(user, plain, [.cookie: user])
            try await expect(user, plain, ["X-API-Key": user])
            for isKnown in [true, false] {
                let signed = HTTPClient(transport: Echo()) {
                    cache
                    Signer(user: user, isKnown: isKnown)
                }
                try await expect(user, isKept: isKnown, signed)
            }
            try await expect("\(user)'s", HTTPClient(transport: Echo(certificate: "\(user)'s")) { cache })
            let certified = HTTPClient(transport: Echo(certificate: "\(user)'s")) {
                cache
                silent
            }
            try await expect("\(user)'s", certified)
        }
    }

    @Test("a cache keeps nothing when somebody else logs in meanwhile")
    func login() async throws {
        let user = Login()
        let client = HTTPClient(
            transport: StubTransport { request in
                user.name.withLock { $0 = "bob" }
                return HTTPResponse(status: .ok, body: .text("for ann"), request: request)
            }
        ) {
            OwnCache()
            user
        }
        for _ in 0..<2 {
            user.name.withLock { $0 = "ann" }
            let response = try await client.send(HTTPRequest("https://h/"))
            #expect(response.trace.events(named: "own.cache.hit").isEmpty)
        }
    }

    @Test("the deadline ends both exchanges of a hedge")
    func hedge() async throws {
        let client = HTTPClient(transport: stub) { OwnHedge(after: .milliseconds(1)) }
        var hasty = HTTPRequest("https://h/slow")
        hasty.deadline = .milliseconds(50)
        #expect(await code(of: hasty, by: client) == .deadlineExceeded)
    }

    @Test("cookies of a challenge are kept, and come with its answer")
    func challenge() async throws {
        let replies: [StubTransport.Reply] = [.respond(.unauthorized, headers: [.setCookie: "sid=1"]), .respond(.ok)]
        let stub = StubTransport(sequence: replies)
        let client = HTTPClient(transport: stub) {
            CookieInterceptor()
            OwnChallenge()
        }
        #expect(try await client.send(HTTPRequest("https://h.example/")).status == .ok)
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1"])
    }

    @Test("they keep the laws")
    func laws() async throws {
        try await assertInterceptorLaws { OwnLimit(200) }
        try await assertInterceptorLaws([.endsInTime]) { OwnLimit(1) }
        try await assertInterceptorLaws { OwnHedge(after: .seconds(3_600)) }
        try await assertInterceptorLaws { OwnCache() }
        try await assertInterceptorLaws { OwnChallenge() }
    }
}
