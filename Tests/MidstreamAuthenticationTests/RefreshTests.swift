import Interception
import Midstream
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// When a credential is refreshed, and for whom.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RefreshTests {
    private let authenticator = TestAuthenticator()

    @Test func theFirstCallObtainsACredentialThatTheNextOnesUse() async throws {
        let stub = StubTransport.accepting("token 1")
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), stub)
        for _ in 0..<3 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(stub.credentials == ["token 1", "token 1", "token 1"])
        #expect(authenticator.refreshes == 1)
    }

    @Test func aRejectedCredentialIsRefreshedAndTheOriginalRequestSentAgain() async throws {
        let stub = StubTransport.accepting("token 1")
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(TestAuthenticator(), credential: "old"), stub)
        let response = try await client.send(HTTPRequest(.post, "/", body: .text("hello")))
        #expect(response.status == .ok)
        // One field: what the first pass added isn't in the second.
        #expect(stub.credentials == ["old", "token 1"])
        #expect(stub.requests.allSatisfy { $0.body.bytes == Array("hello".utf8) && $0.attempt == 1 })
    }

    @Test func cookiesOfARejectionAreKeptAndComeWithTheRequestThatFollows() async throws {
        let stub = StubTransport(sequence: [.respond(.unauthorized, headers: [.setCookie: "sid=2"]), .respond(.ok)])
        let jar = CookieJar()
        jar.set(try Cookie("sid", "1", domain: "api.example"))
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            CookieInterceptor(jar)
            AuthenticationInterceptor(TestAuthenticator(), credential: "old").at(.exchange)
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["old", "token 1"])
        #expect(stub.requests.map { $0.headers[.cookie] } == ["sid=1", "sid=2"])
        #expect(jar.cookies.map(\.value) == ["2"])
    }

    @Test("A credential in Cookie is refreshed though cookies of a jar have joined it", arguments: ["", "lb=1"])
    func rejectedCookie(kept: String) async throws {
        let stub = StubTransport { request in
            let isFresh = request.headers[.cookie]?.contains("sid=token 1") == true
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let (jar, authenticator) = (CookieJar(), TestAuthenticator(field: .cookie, prefix: "sid="))
        if !kept.isEmpty { jar.set(try Cookie("lb", "1", domain: "api.example")) }
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            CookieInterceptor(jar)
            AuthenticationInterceptor(authenticator, credential: "old")
        }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(authenticator.refreshes == 1 && stub.requests.count == 2)
    }

    @Test func aThousandConcurrentCallsWithOneExpiredCredentialMakeOneRefresh() async throws {
        let arrived = Gate()
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "old" else { return HTTPResponse(status: .ok, request: request) }
            await arrived.wait()
            return HTTPResponse(status: .unauthorized, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<1_000 { group.addTask { try await client.send(HTTPRequest("/")).status } }
            await arrived.reached(by: 1_000)
            arrived.open()
            for try await status in group { #expect(status == .ok) }
        }
        #expect(authenticator.refreshes == 1)
        #expect(stub.requests.count == 2_000)
    }

    @Test func aCallThatWasSentWithAnOlderCredentialIsSentAgainWithoutARefresh() async throws {
        let late = Gate()
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/late"), request.headers[.authorization] == "old" { await late.wait() }
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let lateCall = Task { try await client.send(HTTPRequest("/late")).status }
        await late.reached()
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        late.open()
        #expect(try await lateCall.value == .ok)
        #expect(authenticator.refreshes == 1)
    }

    @Test func aNewerCredentialThatIsOutdatedTooIsRefreshed() async throws {
        let late = Gate()
        let stub = StubTransport { request in
            if request.headers[.authorization] == "old" { await late.wait() }
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old")
        let client = HTTPClient.authenticated(by: interceptor, stub)
        let lateCall = Task { try await client.send(HTTPRequest("/")).status }
        await late.reached()
        interceptor.credential = "newer"
        late.open()
        #expect(try await lateCall.value == .ok)
        #expect(stub.credentials == ["old", "newer", "token 1"])
    }

    @Test func aNewCallWaitsForARefreshThatIsUnderWay() async throws {
        let refreshing = Gate()
        let authenticator = TestAuthenticator { _ in await refreshing.wait() }
        let stub = StubTransport.accepting("token 1")
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old")
        let client = HTTPClient.authenticated(by: interceptor, stub)
        let first = Task { try await client.send(HTTPRequest("/")).status }
        await refreshing.reached()
        let second = Task { try await client.send(HTTPRequest("/")).status }
        let third = Task { try await client.send(HTTPRequest("/")).status }
        refreshing.open()
        for call in [first, second, third] { #expect(try await call.value == .ok) }
        #expect(stub.credentials.filter { $0 == "old" }.count == 1)
    }

    @Test func aCredentialThatIsDueIsRefreshedBeforeItIsSent() async throws {
        authenticator.expire("old")
        let stub = StubTransport(status: .ok)
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.credentials == ["token 1"])
    }

    @Test func aFreshCredentialIsUsedEvenIfItIsDue() async throws {
        authenticator.expire("token 1")
        let stub = StubTransport(status: .ok)
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), stub)
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.credentials == ["token 1"])
    }

    @Test func aSecondRejectionEndsTheCallWithTheResponse() async throws {
        let stub = StubTransport(status: .unauthorized, body: .text("no"))
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.body.bytes == Array("no".utf8))
        #expect(stub.credentials == ["old", "token 1"])
        #expect(authenticator.refreshes == 1)
    }

    @Test func moreRefreshesThanTheLimitAreRefusedUntilTheWindowIsOver() async throws {
        let clock = TestClock()
        let stub = StubTransport(status: .unauthorized)
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old", clock: clock), stub)
        for _ in 0..<5 { #expect(await code { try await client.send(HTTPRequest("/")) } == .unacceptableStatus) }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication)
        #expect(error?.underlying as? RefreshRefusal == .tooManyRefreshes(5, within: .seconds(30)))
        #expect(error?.response?.status == .unauthorized)
        #expect(error?.message.contains("5 times") == true)
        #expect(authenticator.refreshes == 5)
        clock.advance(by: .seconds(30))
        #expect(await code { try await client.send(HTTPRequest("/")) } == .unacceptableStatus)
        #expect(authenticator.refreshes == 6)
    }

    @Test("Refreshes that help don't count, however many there are", arguments: [true, false])
    func shortLivedTokens(areRejected: Bool) async throws {
        let used = Locked<Set<String>>([])
        // Each token is good for one request: it is due afterwards, or rejected.
        let stub = StubTransport { request in
            let token = request.headers[.authorization] ?? ""
            let isFirst = used.withLock { $0.insert(token).inserted }
            if !areRejected { authenticator.expire(token) }
            return HTTPResponse(status: isFirst ? .ok : .unauthorized, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, clock: TestClock()), stub)
        for _ in 0..<50 { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(authenticator.refreshes == 50)
    }

    @Test("One that fails counts, and so does one whose credential is rejected, whatever others bring")
    func vainRefreshes() async throws {
        let stub = StubTransport { HTTPResponse(status: $0.urlText.hasSuffix("/bad") ? .unauthorized : .ok, request: $0) }
        let client = HTTPClient.authenticated(
            by: AuthenticationInterceptor(authenticator, credential: "old", clock: TestClock()), stub)
        for number in 0..<7 {
            #expect(try await client.send(HTTPRequest("/good")).status == .ok)
            #expect(
                await code { try await client.send(HTTPRequest("/bad")) } == (number < 5 ? .unacceptableStatus : .authentication))
        }
        #expect(authenticator.refreshes == 5)
    }

    @Test func theLimitLeavesCallsAloneWhoseCredentialIsAccepted() async throws {
        let stub = StubTransport { HTTPResponse(status: $0.urlText.hasSuffix("/bad") ? .unauthorized : .ok, request: $0) }
        let client = HTTPClient.authenticated(
            by:
                AuthenticationInterceptor(TestAuthenticator(), credential: "old", refreshLimit: 1, clock: TestClock()), stub)
        for expected in [HTTPError.Code.unacceptableStatus, .authentication] {
            #expect(await code { try await client.send(HTTPRequest("/bad")) } == expected)
        }
        #expect(try await client.send(HTTPRequest("/good")).status == .ok)
    }

    @Test func theRejectingResponseIsClosedBeforeTheRefresh() async throws {
        let body = ArrivingBody()
        let authenticator = TestAuthenticator { _ in #expect(body.closings > 0) }
        let stub = StubTransport { request in
            let isOld = request.headers[.authorization] == "old"
            return HTTPResponse(status: isOld ? .unauthorized : .ok, body: isOld ? .incoming(body) : .empty, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        #expect(try await client.stream(HTTPRequest("/")).status == .ok)
        #expect(authenticator.refreshes == 1)
    }

    @Test func aBodyThatCanBeReadOnceIsNotSentAgain() async throws {
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, body: .text("?"), request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let upload = {
            HTTPRequest(
                .put, "/",
                body: .once(
                    AsyncStream {
                        $0.yield([1]); $0.finish()
                    }))
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(upload()) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.body.bytes == Array("?".utf8))
        // The credential has been refreshed for the calls that follow.
        #expect(authenticator.refreshes == 1)
        #expect(try await client.send(upload()).status == .ok)
    }

    @Test func aBodyThatWasNotReadIsSentAgain() async throws {
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "token 1" else {
                return HTTPResponse(status: .unauthorized, request: request)
            }
            return HTTPResponse(status: .ok, body: .bytes(try await request.body.collect()), request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(TestAuthenticator(), credential: "old"), stub)
        let request = HTTPRequest(
            .put, "/",
            body: .once(
                AsyncStream {
                    $0.yield([1]); $0.finish()
                }))
        #expect(try await client.send(request).body.bytes == [1])
    }

    @Test(
        "A POST isn't sent again because what its answer led to is rejected",
        arguments: [
            (.attempt, .seeOther, [.post, .get]), (.attempt, .temporaryRedirect, [.post, .post, .post, .post]),
            (.exchange, .seeOther, [.post, .get, .get]),
        ] as [(InterceptorStage, HTTPStatus, [HTTPMethod])])
    func redirectedPost(stage: InterceptorStage, status: HTTPStatus, methods: [HTTPMethod]) async throws {
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/orders/7") else {
                return HTTPResponse(status: status, headers: [.location: "/orders/7"], request: request)
            }
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            AuthenticationInterceptor(authenticator, credential: "old").at(stage)
        }
        _ = await code { try await client.send(HTTPRequest(.post, "/orders", body: .text("one"))) }
        #expect(stub.requests.map(\.method) == methods)
        // The credential has been refreshed for the calls that follow.
        #expect(try await client.send(HTTPRequest("/orders/7")).status == .ok)
        #expect(authenticator.refreshes == 1)
    }

    @Test func settingTheCredentialWinsOverARefreshThatIsUnderWay() async throws {
        let refreshing = Gate()
        let stub = StubTransport.accepting("login")
        let interceptor = AuthenticationInterceptor(TestAuthenticator { _ in await refreshing.wait() }, credential: "old")
        let client = HTTPClient.authenticated(by: interceptor, stub)
        let call = Task { try await client.send(HTTPRequest("/")).status }
        await refreshing.reached()
        interceptor.credential = "login"
        refreshing.open()
        #expect(try await call.value == .ok)
        #expect(interceptor.credential == "login")
    }

    @Test func removingTheCredentialFailsTheCallsThatWait() async throws {
        let refreshing = Gate()
        let interceptor = AuthenticationInterceptor(TestAuthenticator { _ in await refreshing.wait() }, credential: "old")
        let client = HTTPClient.authenticated(by: interceptor, StubTransport(status: .unauthorized))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        interceptor.credential = nil
        refreshing.open()
        let error = await call.result.errorOfCall as? HTTPError
        #expect(error?.code == .authentication)
        #expect(error?.underlying as? RefreshRefusal == .loginEnded)
        #expect(interceptor.credential == nil)
    }

    private func code(_ work: () async throws -> HTTPResponse) async -> HTTPError.Code? {
        do {
            _ = try await work()
            return nil
        } catch {
            return (error as? HTTPError)?.code
        }
    }
}
