import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers each request with the name of the user whose credential it carries, fresh for ten minutes.
private let server = StubTransport { request in
    let seen = "\(request.urlText) \(request.headers.map { "\($0.name) \($0.value)" })"
    func isFrom(_ user: String) -> Bool {
        seen.contains(user) || seen.contains(Data("\(user):p".utf8).base64EncodedString())
    }
    guard let user = ["alice", "bob"].first(where: isFrom) else {
        let challenge = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
        return HTTPResponse(status: 401, headers: [.wwwAuthenticate: challenge], request: request)
    }
    return HTTPResponse(status: .ok, headers: [.cacheControl: "max-age=600"], body: .text(user), request: request)
}

/// The same, to a client that shows a certificate.
private struct Certified: HTTPTransport {
    let user: String
    var identity: RequestIdentity { .user(user) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: .ok, headers: [.cacheControl: "max-age=600"], body: .text(user), request: request)
    }
}

private struct UntoldSigner: RequestSigner {
    let user: String

    func sign(_ request: inout HTTPRequest) async throws { request.headers[.authorization] = "Signature \(user)" }
}

/// Adds a field that no name tells to be a secret, and says whose the request is.
private struct Tenant: RequestInterceptor, ResponseInterceptor {
    let user: String
    var stage: InterceptorStage { .exchange }

    func intercept(request: inout HTTPRequest) async throws { request.headers["X-Tenant"] = user }

    func intercept(response: inout HTTPResponse) async throws {}

    func identity(of request: HTTPRequest) -> RequestIdentity { .user(user) }
}

private struct Offered: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the cache can know whose a request is, so that a second one is answered from it.
    var isKnown = true
    var interceptors: @Sendable (String) -> [any HTTPInterceptor] = { _ in [] }
    var transport: @Sendable (String) -> any HTTPTransport = { _ in server }
}

private let kinds: [Offered] = [
    Offered(testDescription: "API key in a header") { [APIKeyInterceptor($0)] },
    Offered(testDescription: "API key in the query") { [APIKeyInterceptor($0, query: "app_id_two")] },
    Offered(testDescription: "bearer token") { [AuthenticationInterceptor(BearerAuthenticator(token: $0))] },
    Offered(testDescription: "bearer token inside the cache") {
        [AuthenticationInterceptor(BearerAuthenticator(token: $0)).at(.exchange)]
    },
    Offered(testDescription: "user and password") {
        [AuthenticationInterceptor(BasicAuthenticator(user: $0, password: "p"))]
    },
    Offered(testDescription: "Digest") { [DigestInterceptor(user: $0, password: "p")] },
    Offered(testDescription: "AWS key in headers") { user in
        [SigningInterceptor(AWSSignerV4(AWSCredentials(accessKeyID: user, secretAccessKey: "s"), region: "r", service: "s"))]
    },
    Offered(testDescription: "AWS key in the query") { user in
        let credentials = AWSCredentials(accessKeyID: user, secretAccessKey: "s")
        return [
            SigningInterceptor(
                AWSSignerV4(credentials, region: "r", service: "s", placement: .query(expires: .seconds(60))))
        ]
    },
    Offered(testDescription: "AWS key from a closure", isKnown: false) { user in
        [
            SigningInterceptor(
                AWSSignerV4(region: "r", service: "s") { AWSCredentials(accessKeyID: user, secretAccessKey: "s") })
        ]
    },
    Offered(testDescription: "signer that doesn't say whose it is", isKnown: false) {
        [SigningInterceptor(UntoldSigner(user: $0))]
    },
    Offered(testDescription: "closure that adds a field", isKnown: false) { user in
        [ClosureRequestInterceptor(stage: .exchange) { $0.headers[.authorization] = "Bearer \(user)" }]
    },
    Offered(testDescription: "closure that adds an item to the query", isKnown: false) { user in
        [ClosureRequestInterceptor(stage: .exchange) { $0.addQuery("who", user) }]
    },
    Offered(testDescription: "full closure that adds a field", isKnown: false) { user in
        [
            ClosureHTTPInterceptor(stage: .exchange) { request, next in
                var request = request
                request.headers.markSensitive("X-Mine")
                request.headers["X-Mine"] = user
                return try await next(request)
            }
        ]
    },
    Offered(testDescription: "key signed beside a closure's field", isKnown: false) { user in
        [
            SigningInterceptor(
                AWSSignerV4(AWSCredentials(accessKeyID: "both", secretAccessKey: "s"), region: "r", service: "s")),
            ClosureRequestInterceptor(stage: .exchange) { $0.headers[.cookie] = "sid=\(user)" },
        ]
    },
    Offered(testDescription: "cookie") { user in
        [CookieInterceptor(CookieJar([try? Cookie("sid", user, domain: "api.test")].compactMap { $0 }))]
    },
    Offered(testDescription: "tenant's field") { [Tenant(user: $0)] },
    Offered(testDescription: "tenant's field in a chain of request interceptors") {
        [ChainedRequestInterceptor.chain(inOrder: [Tenant(user: $0)])]
    },
    Offered(testDescription: "tenant's field in a chain of response interceptors") {
        [ChainedResponseInterceptor.chain(inOrder: [Tenant(user: $0)])]
    },
    Offered(testDescription: "client certificate", transport: { Certified(user: $0) }),
]

private func text(of response: HTTPResponse) -> String { String(decoding: response.data, as: UTF8.self) }

@Suite("Two users who share a cache", .leavesNothing, .timeLimit(.minutes(10)))
struct TwoUsersTests {
    private func client(
        _ user: String, _ offered: Offered, _ recorder: RecordingTransport, _ others: [any HTTPInterceptor]
    ) -> HTTPClient {
        // In the wrong order, which ranks put right.
        testClient(baseURL: "https://api.test", transport: recorder) {
            others
            offered.interceptors(user)
        }
    }

    private func clients(
        _ offered: Offered, _ others: [any HTTPInterceptor]
    ) -> [(user: String, client: HTTPClient, transport: RecordingTransport)] {
        ["alice", "bob"].map { user in
            let recorder = RecordingTransport(offered.transport(user))
            return (user, client(user, offered, recorder, others), recorder)
        }
    }

    @Test("get their own answers, and those again from the cache where it can know whose they are", arguments: kinds)
    fileprivate func privateCache(_ offered: Offered) async throws {
        let clients = clients(offered, [CacheInterceptor(), Hedging(delay: .seconds(60)), Coalescing()])
        for _ in 0..<2 {
            for (user, client, _) in clients {
                #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
            }
        }
        for (_, client, transport) in clients {
            let exchanges = transport.exchanges.count
            let response = try await client.send(HTTPRequest("/me"))
            #expect(response.isFromCache == offered.isKnown)
            #expect(transport.exchanges.count == exchanges + (offered.isKnown ? 0 : 1))
        }
    }

    @Test("get their own answers at the same time", arguments: kinds)
    fileprivate func atOnce(_ offered: Offered) async throws {
        let clients = clients(offered, [CacheInterceptor(), Hedging(delay: .seconds(60)), Coalescing()])
        try await withThrowingTaskGroup(of: (String, String).self) { group in
            for _ in 0..<20 {
                for (user, client, _) in clients {
                    group.addTask { (user, text(of: try await client.send(HTTPRequest("/me")))) }
                }
            }
            for try await (user, answer) in group { #expect(answer == user) }
        }
    }

    @Test("get their own answers through a cache that is shared", arguments: kinds)
    fileprivate func sharedCache(_ offered: Offered) async throws {
        let clients = clients(offered, [CacheInterceptor(.shared)])
        for _ in 0..<2 {
            for (user, client, _) in clients {
                #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
            }
        }
    }

    @Test("get their own answers where a session adds their credentials", arguments: ["Authorization", "X-Mine"])
    func sessions(field: String) async throws {
        let echo = try MockServer()
        defer { echo.shutdown() }
        echo.respond { request in
            let user = request.headers[HTTPHeaders.Name(field)] ?? "nobody"
            return MockServer.Response(headers: [.cacheControl: "max-age=600"], body: .text(user))
        }
        let cache = CacheInterceptor()
        for user in ["alice", "bob"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = [field: user]
            let client = testClient(baseURL: echo.url(), transport: urlSessionTransport(configuration: configuration)) { cache }
            #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
            #expect(try await client.send(HTTPRequest("/me")).isFromCache)
        }
    }

    @Test("get their own answers where the cache and what tells them apart stand around all attempts")
    func aroundAttempts() async throws {
        let cache = CacheInterceptor()
        for user in ["alice", "bob"] {
            let client = testClient(baseURL: "https://api.test", transport: server) {
                cache.at(.call)
                Tenant(user: user).at(.call)
            }
            #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
            #expect(try await client.send(HTTPRequest("/me")).isFromCache)
        }
    }

    /// `Vary` is told of the request that the cache has seen, which had no cookie yet.
    @Test(
        "get their own answers where a challenge sets one's cookie, which another or nobody has", arguments: [false, true],
        [false, true])
    func cookieOfAChallenge(isPartitioned: Bool, isRemoved: Bool) async throws {
        let site = StubTransport { request in
            guard request.headers.contains(.authorization) else {
                let challenge = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
                let headers: HTTPHeaders = [.wwwAuthenticate: challenge, .setCookie: "sid=alice"]
                return HTTPResponse(status: .unauthorized, headers: headers, request: request)
            }
            return HTTPResponse(
                status: .ok, headers: [.cacheControl: "max-age=600", .vary: "Cookie"],
                body: .text(request.headers[.cookie] ?? "nobody"), request: request)
        }
        var options = CacheOptions()
        if isPartitioned { options.partition = { _ in "site" } }
        let cache = CacheInterceptor(options: options)
        let client = testClient(baseURL: "https://api.test", transport: site) {
            cache
            DigestInterceptor(user: "site", password: "p")
        }
        let jar = CookieJar()
        var request = HTTPRequest("/login")
        request.interceptors = [CookieInterceptor(jar)]
        #expect(text(of: try await client.send(request)) == "sid=alice")
        if isRemoved { jar.removeAll() } else { request.interceptors = [CookieInterceptor()] }
        #expect(text(of: try await client.send(request)) == "nobody")
        #expect(try await client.send(request).isFromCache)
    }

    @Test("keep them when one logs in after the other inside the cache")
    func login() async throws {
        let session = AuthenticationInterceptor(BearerAuthenticator(token: "alice"))
        let client = testClient(baseURL: "https://api.test", transport: server) {
            CacheInterceptor()
            session.at(.exchange)
        }
        for user in ["alice", "bob", "alice"] {
            session.credential = user
            #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
            #expect(try await client.send(HTTPRequest("/me")).isFromCache)
        }
    }

    @Test("keep them when one logs in while the other's request is on its way")
    func loginMeanwhile() async throws {
        let session = Session()
        let client = testClient(baseURL: "https://api.test", transport: server) {
            CacheInterceptor()
            session
        }
        session.user.withLock { $0 = "alice" }
        let first = Task { text(of: try await client.send(HTTPRequest("/me"))) }
        await session.gate.reached()
        session.user.withLock { $0 = "bob" }
        session.gate.open()
        #expect(try await first.value == "bob")
        session.user.withLock { $0 = "alice" }
        #expect(text(of: try await client.send(HTTPRequest("/me"))) == "alice")
    }

    /// Logs in before a field is added, or once the request has been sent with it.
    @Test(
        "keep them when somebody logs in while a request is on its way",
        arguments: ["", "alice"], [(HTTPMethod.get, false), (.post, false), (.get, true), (.post, true)])
    func loginMeanwhile(before: String, on way: (method: HTTPMethod, isSent: Bool)) async throws {
        let session = Session(field: "X-Tenant")
        let answering = Gate()
        (way.isSent ? session.gate : answering).open()
        let tenants = StubTransport { request in
            await answering.wait()
            return HTTPResponse(
                status: .ok, headers: [.cacheControl: "max-age=600", .contentLocation: "/me"],
                body: .text(request.headers["X-Tenant"] ?? ""), request: request)
        }
        let client = testClient(baseURL: "https://api.test", transport: tenants) {
            CacheInterceptor()
            session
        }
        session.user.withLock { $0 = before }
        let first = Task { text(of: try await client.send(HTTPRequest(way.method, "/me"))) }
        await (way.isSent ? answering : session.gate).reached()
        session.user.withLock { $0 = "carol" }
        answering.open()
        session.gate.open()
        #expect(try await first.value == (way.isSent ? before : "carol"))
        for user in ["bob", "carol", before] {
            session.user.withLock { $0 = user }
            #expect(text(of: try await client.send(HTTPRequest("/me"))) == user)
        }
    }
}

/// Whose user may change between the look at whose a request is and its sending.
private struct Session: HTTPInterceptor {
    let user = Locked("")
    let gate = Gate()
    var field = HTTPHeaders.Name.authorization
    var stage: InterceptorStage { .exchange }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        await gate.wait()
        var request = request
        let user = user.withLock { $0 }
        request.headers[field] = field == .authorization ? "Bearer \(user)" : user
        return try await next(request)
    }

    func identity(of request: HTTPRequest) -> RequestIdentity {
        let user = user.withLock { $0 }
        return user.isEmpty ? .nobody : .user(user)
    }
}
