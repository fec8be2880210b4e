import Interception
import Midstream
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Refreshes by the client whose calls wait for them, with what may refuse a request at the same stage.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RefreshPlaceTests {
    private let bench = ArbiterBench()
    private let box = Locked<HTTPClient?>(nil)

    private func client(
        _ transport: StubTransport, _ authenticator: TestAuthenticator, _ other: any HTTPInterceptor
    ) -> HTTPClient {
        let client = bench.client(
            transport, validators: [],
            interceptors: {
                other
                AuthenticationInterceptor(authenticator, credential: "old", clock: TestClock()).at(.exchange)
            })
        box.withLock { $0 = client }
        return client
    }

    private func authenticator() -> TestAuthenticator {
        TestAuthenticator { [box] _ in
            let client = try #require(box.withLock { $0 })
            _ = try await client.send(HTTPRequest(.post, "/token"))
        }
    }

    @Test func aHalfOpenBreakerLetsTheRefreshThroughThatACallWaitsFor() async throws {
        defer { box.withLock { $0 = nil } }
        let authenticator = authenticator()
        let stub = StubTransport(sequence: [.respond(500), .respond(.ok), .respond(.ok)])
        let client = client(stub, authenticator, CircuitBreaker(minimum: 1, probes: 1))
        #expect(try await client.send(HTTPRequest("/")).status == 500)
        authenticator.expire("old")
        bench.clock.advance(by: .seconds(6))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["old", "", "token 1"])
    }

    @Test func aCallThatWaitsForARefreshHoldsNoPermit() async throws {
        defer { box.withLock { $0 = nil } }
        let authenticator = authenticator()
        authenticator.expire("old")
        let stub = StubTransport(status: .ok)
        let client = client(stub, authenticator, ConcurrencyLimit(.fixed(1)))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["", "token 1"])
    }

    @Test func aRefreshDoesNotWaitForItselfBehindOneThatPassesOnFromAnotherThread() async throws {
        defer { box.withLock { $0 = nil } }
        let authenticator = authenticator()
        authenticator.expire("old")
        let stub = StubTransport(status: .ok)
        let client = client(stub, authenticator, OtherThread())
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["", "token 1"])
    }

    @Test(arguments: [true, false], ["sid=2", nil] as [String?])
    func aCallThatWaitedForARefreshBringsTheCookiesThatThereAreByThen(isDue: Bool, cookie: String?) async throws {
        defer { box.withLock { $0 = nil } }
        let authenticator = authenticator()
        if isDue { authenticator.expire("old") }
        let jar = CookieJar([try Cookie("sid", "1", domain: "h")])
        let stub = StubTransport { request in
            let isRefresh = request.urlText.hasSuffix("/token")
            if isRefresh, cookie == nil { jar.removeAll() }
            let isOld = request.headers[.authorization] == "old"
            return HTTPResponse(
                status: isOld ? .unauthorized : .ok, headers: isRefresh ? [.setCookie: "sid=2"] : [:], request: request)
        }
        let client = client(stub, authenticator, CookieInterceptor(jar))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.requests.last?.headers[.authorization] == "token 1")
        #expect(stub.requests.last?.headers[.cookie] == cookie)
    }

    @Test func atTheExchangeItStandsOutsideTheUsersOwn() {
        let client = testClient(transport: StubTransport(status: .ok)) {
            ClosureRequestInterceptor("Shard", stage: .exchange) { _ in }
            AuthenticationInterceptor(TestAuthenticator()).at(.exchange)
        }
        let names = client.pipeline.entries.filter { $0.scope == .client }.map(\.name)
        #expect(names.count == 2 && names.last == "Shard")
    }

    @Test func atTheAttemptItStandsWhereItIsListed() {
        let client = testClient(transport: StubTransport(status: .ok)) {
            ClosureRequestInterceptor("First") { _ in }
            AuthenticationInterceptor(TestAuthenticator())
            ClosureRequestInterceptor("Last") { _ in }
        }
        let names = client.pipeline.entries.filter { $0.scope == .client }.map(\.name)
        #expect(names.count == 3 && names.first == "First" && names.last == "Last")
    }
}
