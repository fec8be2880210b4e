import Foundation
import Interception
import Midstream
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// The same over real sockets.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AuthenticationSocketTests {
    /// A server that accepts one token and answers anything else with 401.
    private func server(accepting token: String) throws -> MockServer {
        let server = try MockServer()
        server.respond { request in
            if request.path == "/login" { return .init(body: "welcome") }
            let isAccepted = request.headers[.authorization] == token
            return .init(status: isAccepted ? .ok : .unauthorized, body: .text(isAccepted ? "in" : "out"))
        }
        return server
    }

    @Test func aThousandConcurrentCallsWithOneExpiredCredentialMakeOneRefresh() async throws {
        let server = try self.server(accepting: "token 1")
        defer { server.shutdown() }
        let authenticator = TestAuthenticator()
        let client = testClient(baseURL: server.url(), transport: platformTransport()) {
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<1_000 { group.addTask { try await client.send(HTTPRequest("/")).status } }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(authenticator.refreshes == 1)
        #expect(server.requests.filter { $0.headers[.authorization] == "token 1" }.count == 1_000)
    }

    @Test func aFailedRefreshSendsNothingAgain() async throws {
        let server = try self.server(accepting: "token 1")
        defer { server.shutdown() }
        let authenticator = TestAuthenticator()
        authenticator.fail(with: LoginFailed())
        let client = testClient(baseURL: server.url(), transport: platformTransport()) {
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        let calls = (0..<20).map { _ in Task { try await client.send(HTTPRequest(.post, "/", body: .text("x"))) } }
        for call in calls { #expect((await call.result.errorOfCall as? HTTPError)?.code == .authentication) }
        #expect(server.requestCount <= 20)
        #expect(server.requests.allSatisfy { $0.headers[.authorization] == "old" })
    }

    @Test func theRefreshMayUseTheSameClient() async throws {
        let server = try self.server(accepting: "token 1")
        defer { server.shutdown() }
        let box = Locked<HTTPClient?>(nil)
        let authenticator = TestAuthenticator { _ async throws in
            let client = try #require(box.withLock { $0 })
            #expect(try await client.send(HTTPRequest(.post, "/login")).data == "welcome".data(using: .utf8))
        }
        let client = testClient(baseURL: server.url(), transport: platformTransport()) {
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        box.withLock { $0 = client }
        for _ in 0..<3 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(server.requests.map { $0.headers[.authorization] } == ["old", nil, "token 1", "token 1", "token 1"])
        box.withLock { $0 = nil }
    }

    @Test func aStreamedRejectionThatNeverEndsHoldsNothingUp() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let (chunks, feed) = AsyncStream<[UInt8]>.makeStream()
        defer { feed.finish() }
        feed.yield([1])
        server.respond { request in
            if request.headers[.authorization] == "token 1" { return .init(body: "in") }
            return .init(status: .unauthorized, body: .once(chunks))
        }
        let client = testClient(baseURL: server.url(), transport: platformTransport()) {
            AuthenticationInterceptor(TestAuthenticator(), credential: "old")
        }
        let response = try await client.stream(HTTPRequest("/"))
        #expect(try await response.body.collect() == Array("in".utf8))
    }

    @Test func aRedirectToAnotherOriginDoesNotCarryTheCredential() async throws {
        let server = try self.server(accepting: "token 1")
        let other = try self.server(accepting: "token 1")
        defer { server.shutdown() }
        defer { other.shutdown() }
        server.enqueue(.init(status: .temporaryRedirect, headers: [.location: other.url("/x")]))
        let authenticator = TestAuthenticator()
        let client = testClient(baseURL: server.url(), transport: platformTransport()) {
            AuthenticationInterceptor(authenticator)
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus)
        #expect(server.requests.map { $0.headers[.authorization] } == ["token 1"])
        #expect(other.requests.map { $0.headers[.authorization] } == [nil])
        #expect(authenticator.refreshes == 1)
    }
}
