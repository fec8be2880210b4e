import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What happens when a refresh fails, hangs, or loses those who wait for it.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RefreshFailureTests {
    private let authenticator = TestAuthenticator()

    @Test func aFailedRefreshFailsTheWaitingCallsAndSendsNoneAgain() async throws {
        let arrived = Gate()
        authenticator.fail(with: LoginFailed())
        let stub = StubTransport { request in
            if request.headers[.authorization] == "old" { await arrived.wait() }
            return HTTPResponse(status: request.headers[.authorization] == "old" ? .unauthorized : .ok, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let calls = (0..<100).map { _ in Task { try await client.send(HTTPRequest("/")) } }
        await arrived.reached(by: 100)
        arrived.open()
        for call in calls {
            let error = await call.result.errorOfCall as? HTTPError
            #expect(error?.code == .authentication)
            #expect(error?.underlying is LoginFailed)
            #expect(error?.response?.status == .unauthorized)
            #expect(error?.phase == .answered)
        }
        #expect(stub.requests.count == 100)
        // Those that were rejected after it had failed share the failure.
        #expect(authenticator.refreshes == 1)

        authenticator.fail(with: nil)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(authenticator.refreshes == 2)
    }

    @Test("A streamed call's error has the body of the rejecting answer, or says that it was given up", arguments: [true, false])
    func rejectedStream(isReplayable: Bool) async throws {
        authenticator.fail(with: LoginFailed())
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            let rest = Locked([Array("expired".utf8)])
            return HTTPResponse(
                status: .unauthorized, body: .incoming(next: { rest.withLock { $0.popLast() } }, close: {}), request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let request = HTTPRequest(.put, "/", body: isReplayable ? .text("report") : .once(chunks("report")))
        let error = await httpError { try await client.stream(request) }
        #expect(error?.code == .authentication && stub.requests.count == 1)
        #expect(error?.response?.body.bytes == (isReplayable ? nil : Array("expired".utf8)))
        #expect(error?.message.contains("body couldn't be read") == isReplayable)
    }

    @Test func aCallThatIsRejectedAfterARefreshHasFailedSharesTheFailure() async throws {
        let late = Gate()
        authenticator.fail(with: LoginFailed())
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/late") { await late.wait() }
            return HTTPResponse(status: .unauthorized, request: request)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        let lateCall = Task { try await client.send(HTTPRequest("/late")) }
        await late.reached()
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        late.open()
        #expect((await lateCall.result.errorOfCall as? HTTPError)?.underlying is LoginFailed)
        #expect(authenticator.refreshes == 1)
    }

    @Test func withoutACredentialNothingIsSent() async throws {
        authenticator.fail(with: LoginFailed())
        let stub = StubTransport(status: .ok)
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), stub)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication)
        #expect(error?.phase == .notSent)
        #expect(error?.response == nil)
        #expect(stub.requests.isEmpty)
    }

    @Test func aCancelledCallerEndsAtOnceAndTheOthersGetTheCredential() async throws {
        let refreshing = Gate()
        let authenticator = TestAuthenticator { _ in await refreshing.wait() }
        let stub = StubTransport.accepting("token 1")
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), stub)
        let first = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        let second = Task { try await client.send(HTTPRequest("/")).status }
        first.cancel()
        #expect(await first.result.errorOfCall is CancellationError)
        refreshing.open()
        #expect(try await second.value == .ok)
        #expect(authenticator.refreshes == 1)
        #expect(stub.requests.count == 1)
    }

    @Test func aRefreshIsFinishedEvenWhenAllCallersAreCancelled() async throws {
        let refreshing = Gate()
        let authenticator = TestAuthenticator { _ in await refreshing.wait() }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), StubTransport.accepting("token 1"))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        call.cancel()
        #expect(await call.result.errorOfCall is CancellationError)
        refreshing.open()
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(authenticator.refreshes == 1)
    }

    @Test func aCancellationInsideTheRefreshIsAFailureOfTheRefresh() async throws {
        authenticator.fail(with: CancellationError())
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), StubTransport(status: .ok))
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication)
        #expect(error?.underlying is CancellationError)
    }

    @Test func theTimeoutOfTheAttemptEndsTheWaitAndNotTheRefresh() async throws {
        let clock = TestClock()
        let refreshing = Gate()
        let authenticator = TestAuthenticator { _ in await refreshing.wait() }
        let interceptor = AuthenticationInterceptor(authenticator, refreshTimeout: nil)
        let client = HTTPClient.authenticated(by: interceptor, StubTransport.accepting("token 1"), clock: clock)
        var request = HTTPRequest("/")
        request.timeout = .seconds(10)
        let call = Task { [request] in try await client.send(request) }
        await refreshing.reached()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let error = await call.result.errorOfCall as? HTTPError
        #expect(error?.code == .timeout)
        #expect(error?.phase == .notSent)
        refreshing.open()
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(authenticator.refreshes == 1)
    }

    @Test("The deadline of the call that began a refresh doesn't end what the refresh sends")
    func deadline() async throws {
        let clock = TestClock()
        let configuration = HTTPClient.Configuration(timeout: nil, clock: clock)
        let (late, exchanging) = (Gate(), Gate())
        let tokens = StubTransport { request in
            await exchanging.wait()
            return HTTPResponse(status: .ok, request: request)
        }
        let login = testClient(baseURL: "https://login.example", configuration: configuration, transport: tokens)
        let authenticator = TestAuthenticator { _ in _ = try await login.send(HTTPRequest(.post, "/token")) }
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/patient"), request.headers[.authorization] == "old" { await late.wait() }
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old", refreshTimeout: nil)
        let client = HTTPClient.authenticated(by: interceptor, stub, clock: clock)
        var (first, second) = (HTTPRequest("/patient"), HTTPRequest("/"))
        first.timeout = .unlimited
        second.deadline = .seconds(1)
        let patient = Task { [first] in try await client.send(first).status }
        await late.reached()
        let hasty = Task { [second] in try await client.send(second) }
        await exchanging.reached()
        late.open()
        // Only the hasty one watches the time.
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect((await hasty.result.errorOfCall as? HTTPError)?.code == .deadlineExceeded)
        clock.advance(by: .seconds(1))
        exchanging.open()
        #expect(try await patient.value == .ok)
        #expect(authenticator.refreshes == 1 && tokens.requests.count == 1)
    }

    @Test func aRefreshThatHangsIsGivenUp() async throws {
        let clock = TestClock()
        let authenticator = TestAuthenticator { old in
            if old == nil { try await untilCancelled() }
        }
        let interceptor = AuthenticationInterceptor(authenticator, clock: clock)
        let client = HTTPClient.authenticated(by: interceptor, StubTransport.accepting("token 2"))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let error = await call.result.errorOfCall as? HTTPError
        #expect(error?.code == .authentication)
        #expect((error?.underlying as? HTTPError)?.code == .timeout)
        interceptor.credential = "old"
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test(
        "A token endpoint that is down is tried after pauses that double, and its failures don't count",
        arguments: [
            HTTPError(.connection, "refused"), HTTPError(.timeout, "late"), HTTPError(.nameResolution, "unknown"),
            HTTPError(.unacceptableStatus, "busy", response: HTTPResponse(status: .tooManyRequests, request: HTTPRequest("/"))),
            OAuthError(.malformedResponse, status: .serviceUnavailable),
        ] as [any Error])
    func anEndpointThatIsDown(failure: any Error) async throws {
        let clock = TestClock()
        authenticator.fail(with: failure)
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old", clock: clock)
        let client = HTTPClient.authenticated(
            by: interceptor,
            StubTransport { request in
                let isOld = request.headers[.authorization] == "old"
                return HTTPResponse(status: isOld ? .unauthorized : .ok, request: request)
            })
        var refreshes = 0
        for pause in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            refreshes += 1
            for _ in 0..<2 {
                let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
                #expect(error?.code == .authentication)
                #expect(error?.underlying is RefreshRefusal == false)
                #expect(authenticator.refreshes == refreshes)
                clock.advance(by: .milliseconds(pause / 2))
            }
        }
        authenticator.fail(with: nil)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test("A refresh that asks for patience isn't begun again before, and doesn't count")
    func postponedRefresh() async throws {
        struct Later: PostponedRefresh { let retryAfter: Duration }
        let clock = TestClock()
        let client = HTTPClient.authenticated(
            by: AuthenticationInterceptor(authenticator, clock: clock), StubTransport(status: .ok))
        authenticator.fail(with: Later(retryAfter: .seconds(2)))
        for number in 1...7 {
            for _ in 0..<2 {
                let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
                #expect(error?.underlying is Later)
                #expect(authenticator.refreshes == number)
                clock.advance(by: .seconds(1))
            }
        }
        authenticator.fail(with: Later(retryAfter: .seconds(Int64.max)))
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        authenticator.fail(with: nil)
        clock.advance(by: .seconds(86_400))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test("A refusal counts")
    func refusals() async throws {
        authenticator.fail(with: OAuthError(.invalidClient, status: .unauthorized))
        let client = HTTPClient.authenticated(
            by: AuthenticationInterceptor(authenticator, clock: TestClock()), StubTransport(status: .ok))
        for _ in 0..<5 { await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) } }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(error?.underlying as? RefreshRefusal != nil)
        #expect(authenticator.refreshes == 5)
    }

    @Test("A refresh whose caller is then lost counts, unless another call is accepted with what it has brought")
    func lostCallers() async throws {
        let sends = Locked(0)
        // Of each two, the first is rejected, and the one with the fresh credential gets no answer.
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/lost") else { return HTTPResponse(status: .ok, request: request) }
            let number = sends.increment()
            if number.isMultiple(of: 2) { throw HTTPError(.connectionLost) }
            return HTTPResponse(status: .unauthorized, request: request)
        }
        let client = HTTPClient.authenticated(
            by: AuthenticationInterceptor(authenticator, credential: "old", clock: TestClock()), stub)
        for number in 1...7 {
            #expect(await httpError { try await client.send(HTTPRequest("/lost")) }?.code == .connectionLost)
            #expect(try await client.send(HTTPRequest("/")).status == .ok)
            #expect(authenticator.refreshes == number)
        }
        for number in 1...6 {
            let error = await httpError { try await client.send(HTTPRequest("/lost")) }
            #expect(error?.code == (number < 6 ? .connectionLost : .authentication))
        }
    }

    @Test func theRefreshMayUseTheSameClient() async throws {
        let box = Locked<HTTPClient?>(nil)
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/login") { return HTTPResponse(status: .ok, request: request) }
            let isFresh = request.headers[.authorization] == "token 1"
            return HTTPResponse(status: isFresh ? .ok : .unauthorized, request: request)
        }
        let authenticator = TestAuthenticator { _ in
            let client = try #require(box.withLock { $0 })
            async let child = client.send(HTTPRequest(.post, "/login"))
            #expect(try await child.status == .ok)
            #expect(try await client.send(HTTPRequest(.post, "/login")).status == .ok)
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator, credential: "old"), stub)
        box.withLock { $0 = client }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.requests.filter { $0.urlText.hasSuffix("/login") }.allSatisfy { !$0.headers.contains(.authorization) })
        #expect(stub.credentials == ["old", "", "", "token 1"])
        box.withLock { $0 = nil }
    }

    @Test func aTaskThatOutlivesItsRefreshIsAuthenticated() async throws {
        let box = Locked<HTTPClient?>(nil)
        let later = Locked<Task<HTTPStatus, any Error>?>(nil)
        let over = Gate()
        let authenticator = TestAuthenticator { _ in
            let client = try #require(box.withLock { $0 })
            let task = Task {
                await over.wait()
                return try await client.send(HTTPRequest("/sync")).status
            }
            later.withLock { $0 = task }
        }
        let client = HTTPClient.authenticated(by: AuthenticationInterceptor(authenticator), StubTransport.accepting("token 1"))
        box.withLock { $0 = client }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        over.open()
        #expect(try await later.withLock { $0 }?.value == .ok)
        box.withLock { $0 = nil }
    }

    @Test func oneCredentialMayBeNeededToObtainAnother() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: request.headers.contains(.authorization) ? .ok : .unauthorized, request: request)
        }
        let inner = TestAuthenticator()
        let loginClient = HTTPClient.authenticated(by: AuthenticationInterceptor(inner), stub)
        let outer = TestAuthenticator { _ async throws in
            #expect(try await loginClient.send(HTTPRequest("/login")).status == .ok)
        }
        #expect(
            try await HTTPClient.authenticated(by: AuthenticationInterceptor(outer), stub).send(HTTPRequest("/")).status == .ok)
        #expect((inner.refreshes, outer.refreshes) == (1, 1))
    }
}
