import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Whose a request will be", .leavesNothing)
struct IdentitiesTests {
    /// Says whose requests are.
    private struct Owner: RequestInterceptor {
        let owner: RequestIdentity

        func intercept(request: inout HTTPRequest) async throws {}

        func identity(of request: HTTPRequest) -> RequestIdentity { owner }
    }

    /// Has a client certificate.
    private struct Certified: HTTPTransport {
        let identity = RequestIdentity.user("certificate")

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 200, request: request) }
    }

    /// Has somebody logged in, or nobody.
    private struct Login: HTTPTransport {
        let user = Locked<String?>(nil)

        var identity: RequestIdentity { user.withLock { $0.map(RequestIdentity.user) ?? .nobody } }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 200, request: request) }
    }

    /// The identities that an interceptor sees between others.
    private func seen(
        _ outer: RequestIdentity, _ inner: [RequestIdentity], _ transport: any HTTPTransport, at stage: InterceptorStage
    ) async throws -> [RequestIdentity] {
        let seen = Locked<[RequestIdentity]>([])
        let client = testClient(transport: transport) {
            Owner(owner: outer).at(stage)
            ClosureHTTPInterceptor(stage: stage) { request, next in
                seen.withLock { $0 = next.identities(of: request) }
                return try await next(request)
            }
            for identity in inner { Owner(owner: identity).at(stage) }
        }
        _ = try await client.send(HTTPRequest("https://h/"))
        return seen.withLock { $0 }
    }

    @Test("is said by those further in, in their order, and by the transport", arguments: InterceptorStage.allCases)
    func identities(stage: InterceptorStage) async throws {
        let (ann, bob) = (RequestIdentity.user("ann"), RequestIdentity.user("bob"))
        #expect(try await seen(ann, [], StubTransport.ok, at: stage) == [])
        #expect(try await seen(ann, [.nobody], StubTransport.ok, at: stage) == [])
        #expect(try await seen(.unknown, [bob, ann], StubTransport.ok, at: stage) == [bob, ann])
        let all = try await seen(.nobody, [.unknown, bob, .unknown], Certified(), at: stage)
        #expect(all == [bob, .user("certificate"), .unknown])
    }

    @Test("is compared byte by byte")
    func bytes() {
        #expect(RequestIdentity.user("K") != .user("\u{212A}") && RequestIdentity.user("K") == .user("K"))
        #expect(RequestIdentity.user("") != .nobody && RequestIdentity.unknown != .nobody)
    }

    @Test("is asked of the transport for each request")
    func login() async throws {
        let transport = Login()
        let seen = Locked<[[RequestIdentity]]>([])
        let client = testClient(transport: transport) {
            ClosureHTTPInterceptor { request, next in
                seen.withLock { $0.append(next.identities(of: request)) }
                return try await next(request)
            }
        }
        for user in [nil, "ann", "bob"] {
            transport.user.withLock { $0 = user }
            _ = try await client.send(HTTPRequest("https://h/"))
        }
        #expect(seen.withLock { $0 } == [[], [.user("ann")], [.user("bob")]])
    }

    @Test("isn't known in a chain of one's own")
    func ownChain() async throws {
        let seen = Locked<[RequestIdentity]>([])
        let look = ClosureHTTPInterceptor { request, next in
            seen.withLock { $0 = next.identities(of: request) }
            return try await next(request)
        }
        let chain = InterceptorChain<HTTPRequest, HTTPResponse>([look]) { HTTPResponse(status: 200, request: $0) }
        _ = try await chain.proceed(HTTPRequest("https://h/"))
        #expect(seen.withLock { $0 } == [.unknown])
    }

    @Test("shows in secret fields and in the query")
    func addedSecrets() {
        let asked = HTTPRequest("https://h/a?b=1", headers: [.authorization: "ann", "X-Number": "1"])
        func added(_ change: (inout HTTPRequest) -> Void) -> Bool {
            var sent = asked
            change(&sent)
            return sent.hasSecrets(beyond: asked)
        }
        #expect(!added { _ in })
        #expect(!added { $0.headers["X-Number"] = "2" })
        #expect(!added { $0.headers.remove(.authorization) })
        #expect(added { $0.headers[.authorization] = "bob" })
        #expect(added { $0.headers[.cookie] = "c=1" })
        #expect(added { $0.addQuery("key", "k") })
        #expect(
            added {
                $0.headers["X-Signature"] = "s"
                $0.headers.markSensitive("X-Signature")
            })
    }
}
