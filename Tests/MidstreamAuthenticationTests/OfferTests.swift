import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A credential that comes unasked", .leavesNothing)
struct OfferTests {
    private let interceptor = AuthenticationInterceptor(BearerAuthenticator { _ in "refreshed" }, credential: "a")

    @Test("is used from then on, and nobody refreshes")
    func isUsed() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(transport: stub) { interceptor }
        #expect(interceptor.offer("b"))
        #expect(!interceptor.offer("b"))
        _ = try await client.send(HTTPRequest("https://api.test/"))
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer b"])
        #expect(interceptor.credential == "b")
    }

    @Test("doesn't end a login, nor a logout")
    func login() async throws {
        let stub = StubTransport { [interceptor] request in
            if request.headers[.authorization] == "Bearer a" {
                interceptor.offer("b")
                return HTTPResponse(status: .unauthorized, request: request)
            }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = testClient(transport: stub) { interceptor }
        // The call was sent with the old one, and is sent again with what has come.
        #expect(try await client.send(HTTPRequest("https://api.test/")).status == .ok)
        #expect(stub.requests.last?.headers[.authorization] == "Bearer b")
        try await interceptor.logOut()
        #expect(!interceptor.offer("c"))
        #expect(interceptor.credential == nil)
    }
}
