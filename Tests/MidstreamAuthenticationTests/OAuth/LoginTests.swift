import Interception
import Midstream
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Whose login it is that is refreshed, saved and used.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct LoginTests {
    private let store = TestTokenStore(LoginService.token("ann"))

    @Test("What a refresh brings after a logout is dropped, in the store too")
    func logoutDuringARefresh() async throws {
        let refreshing = Gate()
        let service = LoginService { _ in await refreshing.wait() }
        let (client, session) = service.client(store)
        let call = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        session.credential = nil
        refreshing.open()
        #expect((await call.result.errorOfCall as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect((error?.underlying as? OAuthError)?.code == .noRefreshToken)
        #expect(store.present == nil)
        #expect(service.sent == ["ann-0"])
    }

    @Test("With another login in between, the next call is that user's")
    func loginDuringARefresh() async throws {
        let refreshing = Gate()
        let service = LoginService { if $0 == "ann-r0" { await refreshing.wait() } }
        let (client, session) = service.client(store)
        let call = Task { try await client.send(HTTPRequest("/ann")) }
        await refreshing.reached()
        session.credential = nil
        session.credential = LoginService.token("bob")
        let bobs = Task { try await client.send(HTTPRequest("/bob")).status }
        #expect(try await bobs.value == .ok)
        refreshing.open()
        #expect(await call.result.errorOfCall != nil)
        #expect(try await client.send(HTTPRequest("/bob")).status == .ok)
        #expect(service.sent == ["ann-0", "bob-0", "bob-1", "bob-1"])
        #expect(service.spent == ["ann-r0", "bob-r0"])
        #expect(store.present == "bob-1")
    }

    @Test("A credential that is set is the one that is refreshed, and one that is removed isn't found in the store again")
    func settingTheCredential() async throws {
        let service = LoginService()
        let (client, session) = service.client(store)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        session.credential = LoginService.token("bob")
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.sent == ["ann-0", "ann-1", "bob-0", "bob-1"])
        session.credential = nil
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(service.sent.count == 4)
        await eventually { store.present == nil }
    }

    @Test("The first credential counts more than what somebody else has left in the store")
    func credentialOfTheInitializer() async throws {
        let service = LoginService()
        let (client, _) = service.client(store, credential: LoginService.token("bob"))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.sent == ["bob-0", "bob-1"])
        #expect(store.present == "bob-1")
    }

    @Test("Two clients with one store spend a refresh token once", arguments: [true, false])
    func twoHolders(isObject: Bool) async throws {
        let refreshing = Gate()
        let service = LoginService { _ in await refreshing.wait() }
        let object = InMemoryTokenStore(LoginService.token("ann"))
        let store = { () -> any TokenStore in isObject ? object : NamedTokenStore(name: "twoHolders") }
        try await store().save(LoginService.token("ann"))
        let (first, second) = (service.client(store()), service.client(store()))
        let calls = [first.client, second.client].map { client in Task { try await client.send(HTTPRequest("/")).status } }
        await refreshing.reached()
        // Time for the other one to begin a refresh of its own, if it would.
        for _ in 0..<200 { await Task.yield() }
        refreshing.open()
        for call in calls { #expect(try await call.value == .ok) }
        #expect(service.spent == ["ann-r0"])
        service.expire("ann")
        for client in [first.client, second.client] { #expect(try await client.send(HTTPRequest("/")).status == .ok) }
        #expect(service.spent == ["ann-r0", "ann-r1"])
        try await store().save(nil)
    }

    @Test(
        "A refresh token that another process has spent is looked for in the store again",
        arguments: [(.badRequest, "invalid_grant"), (.ok, "bad_refresh_token")] as [(HTTPStatus, String)])
    func anotherProcessWasQuicker(status: HTTPStatus, code: String) async throws {
        let (service, theirs) = (Locked<LoginService?>(nil), Locked(false))
        let logins = LoginService(refusal: (status, code)) { _ in
            guard
                !theirs.withLock({ isTheirs in
                    defer { isTheirs = true }; return isTheirs
                })
            else { return }
            // The other one sends the same refresh token in this very moment, and its answer comes first.
            store.replace(with: OAuthToken(accessToken: "ann-1", refreshToken: "ann-r1"))
            service.withLock { $0 }?.accept("ann", 1)
        }
        service.withLock { $0 = logins }
        logins.markSpent("ann-r0")
        let (client, _) = logins.client(store)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(logins.sent == ["ann-0", "ann-1"])
        service.withLock { $0 = nil }
    }

    @Test("An invalid grant of which the store knows nothing newer is the error")
    func invalidGrant() async throws {
        let service = LoginService()
        service.markSpent("ann-r0")
        let (client, _) = service.client(TestTokenStore(LoginService.token("ann")))
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect((error?.underlying as? OAuthError)?.code == .invalidGrant)
        #expect(service.spent == ["ann-r0", "ann-r0"])
    }

    @Test("A login or a logout of another process while a token is on its way has the last word", arguments: [nil, "bob"])
    func anotherProcessDuringARefresh(user: String?) async throws {
        let refreshing = Gate()
        let service = LoginService { _ in await refreshing.wait() }
        let (client, _) = service.client(store)
        try await expectOvertaken(client, store, by: user, at: refreshing)
        #expect(!service.sent.contains("ann-1"))
    }

    /// Has another process log in or out while a call's refresh is on its way.
    private func expectOvertaken(_ client: HTTPClient, _ store: TestTokenStore, by user: String?, at refreshing: Gate)
        async throws
    {
        let call = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        store.replace(with: user.map { LoginService.token($0) })
        refreshing.open()
        #expect(await call.result.errorOfCall != nil)
        #expect(store.present == user.map { "\($0)-0" })
    }

    @Test("A token that can't be saved is used all the same, and saved later")
    func failedSave() async throws {
        let clock = TestClock()
        let service = LoginService()
        let (client, _) = service.client(store, clock: clock)
        store.fail(2)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        service.expire("ann")
        // Refreshed with what the store couldn't be given. Saving is tried before and afterwards.
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.spent == ["ann-r0", "ann-r1"])
        #expect(store.present == "ann-2")
        store.fail(1)
        service.expire("ann")
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(store.present == "ann-2")
        clock.advance(by: .milliseconds(100))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        await eventually { store.present == "ann-3" }
        #expect(service.spent.count == 3)
    }

    @Test("A token that couldn't be saved isn't written over another process's login or logout", arguments: [nil, "bob"])
    func anotherProcessAfterAFailedSave(user: String?) async throws {
        let clock = TestClock()
        let service = LoginService()
        let (client, _) = service.client(store, clock: clock)
        store.fail(1)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        store.replace(with: user.map { LoginService.token($0) })
        clock.advance(by: .milliseconds(100))
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        service.expire("ann")
        // What is tried to be saved beside the call before is over when this one refreshes.
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(store.present == user.map { "\($0)-0" })
        #expect(service.spent == ["ann-r0"])
    }

    @Test("Nor is what comes of it, with the login or logout while that is on its way", arguments: [nil, "bob"])
    func anotherProcessDuringTheNextRefresh(user: String?) async throws {
        let refreshing = Gate()
        let service = LoginService { if $0 == "ann-r1" { await refreshing.wait() } }
        let (client, _) = service.client(store, clock: TestClock())
        // Saving is tried again before the next refresh.
        store.fail(2)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        service.expire("ann")
        try await expectOvertaken(client, store, by: user, at: refreshing)
        #expect(!service.sent.contains("ann-2"))
    }

    @Test("A logout at one of two holders is for both, and a call that began before isn't sent with the next login")
    func logoutOfOneHolder() async throws {
        let refreshing = Gate()
        let service = LoginService { _ in await refreshing.wait() }
        let (first, second) = (service.client(store), service.client(store))
        let call = Task { try await second.client.send(HTTPRequest("/")) }
        await refreshing.reached()
        try await first.session.logOut()
        #expect(second.session.credential == nil)
        try await first.session.logIn(LoginService.token("bob"))
        #expect(second.session.credential?.accessToken == "bob-0")
        #expect(store.present == "bob-0")
        refreshing.open()
        #expect((await call.result.errorOfCall as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        #expect(service.sent == ["ann-0"])
    }

    @Test("A call of a former login that is rejected afterwards isn't sent with the next one's credential")
    func rejectionAfterAnotherLogin() async throws {
        let answered = Gate()
        let service = LoginService()
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/late") { await answered.wait() }
            return HTTPResponse(status: .unauthorized, request: request)
        }
        let (_, session) = service.client(store, credential: LoginService.token("ann"))
        let client = testClient(baseURL: "https://api.example", transport: stub) { session }
        let call = Task { try await client.send(HTTPRequest("/late")) }
        await answered.reached()
        try await session.logIn(LoginService.token("bob"))
        answered.open()
        #expect((await call.result.errorOfCall as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        #expect(stub.credentials == ["Bearer ann-0"])
        #expect(service.spent.isEmpty)
    }

    @Test("A retry after another login or a logout isn't sent", arguments: [nil, "bob"])
    func retryAfterAnotherLogin(user: String?) async throws {
        let bench = ArbiterBench()
        let stub = StubTransport(status: .serviceUnavailable)
        let session = AuthenticationInterceptor(TestAuthenticator(), credential: "ann")
        let client = bench.client(stub, maxRetries: 1, interceptors: { session })
        let call = Task { try await client.send(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        if let user { try await session.logIn(user) } else { try await session.logOut() }
        bench.clock.advanceToLastDeadline()
        let error = await call.result.errorOfCall as? HTTPError
        #expect(error?.code == .authentication && error?.phase == .maybeProcessed)
        #expect(error?.underlying as? RefreshRefusal == .loginEnded)
        #expect(stub.credentials == ["ann"])
    }

    @Test("Nor is an alternate request of a call of a former login")
    func alternateAfterAnotherLogin() async throws {
        let stub = StubTransport(status: .conflict)
        let session = AuthenticationInterceptor(TestAuthenticator(), credential: "ann")
        let validator = AlternateRequestValidator(statuses: [.conflict]) { _, _ in
            try await session.logIn("bob")
            return HTTPRequest(.post, "/alternate")
        }
        let client = ArbiterBench().client(stub, validators: [validator, DefaultValidator()], interceptors: { session })
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect((error?.underlying as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        #expect(stub.credentials == ["ann"])
    }

    @Test("A call that another login overtakes before it is sent fails, and the next one is that user's")
    func loginBeforeACallIsSent() async throws {
        let waiting = Gate()
        let stub = StubTransport(status: .ok)
        let session = AuthenticationInterceptor(TestAuthenticator(), credential: "ann")
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            ClosureHTTPInterceptor { request, next in
                await waiting.wait()
                return try await next(request)
            }
            session
        }
        let call = Task { try await client.send(HTTPRequest("/")) }
        await waiting.reached()
        try await session.logIn("bob")
        waiting.open()
        #expect((await call.result.errorOfCall as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(stub.credentials == ["bob"])
    }

    @Test("It shares neither answer nor failure with an equal call of the next login", arguments: [true, false])
    func sharedCallAfterAnotherLogin(isFirst: Bool) async throws {
        let (waiting, slow) = (Gate(), Gate())
        let anns = HTTPRequest("/me")
        let stub = StubTransport(status: .ok)
        let session = AuthenticationInterceptor(TestAuthenticator(), credential: "ann")
        let client = testClient(baseURL: "https://api.example", transport: stub) {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                if request.id == anns.id { await waiting.wait() }
                return try await next(request)
            }
            Coalescing()
            ClosureHTTPInterceptor("Slow") { request, next in
                await slow.wait()
                return try await next(request)
            } plan: { _ in
                .known()
            }
            session
        }
        let call = Task { try await client.send(anns) }
        await waiting.reached()
        try await session.logIn("bob")
        if isFirst {
            waiting.open()
            await slow.reached()
        }
        let bobs = Task { try await client.send(HTTPRequest("/me")).status }
        if !isFirst { await slow.reached() }
        waiting.open()
        // Time for the second one to join the first, if it would.
        for _ in 0..<200 { await Task.yield() }
        slow.open()
        #expect((await call.result.errorOfCall as? HTTPError)?.underlying as? RefreshRefusal == .loginEnded)
        #expect(try await bobs.value == .ok)
        #expect(stub.credentials == ["bob"])
    }

    @Test("A login and a logout hold even if they can't be saved, or their task is cancelled")
    func loginsThatCannotBeSaved() async throws {
        let clock = TestClock()
        let service = LoginService()
        let (client, session) = service.client(store, clock: clock)
        store.fail(1)
        await #expect(throws: TestTokenStore.Full.self) { try await session.logIn(LoginService.token("bob")) }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.sent == ["bob-0", "bob-1"])
        #expect(store.present == "bob-1")
        store.fail(2)
        await #expect(throws: TestTokenStore.Full.self) { try await session.logOut() }
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        #expect(service.sent.count == 2)
        clock.advance(by: .seconds(1))
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/")) }
        await eventually { store.present == nil }
        try await session.logIn(LoginService.token("ann"))
        let logout = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await session.logOut()
        }
        try await logout.value
        #expect(store.present == nil)
    }

    @Test("An authenticator of one's own is given what is to be kept, and nothing after a logout")
    func savingBySomebodyElse() async throws {
        let refreshing = Gate()
        let authenticator = SavingAuthenticator { if $0 == "token 1" { await refreshing.wait() } }
        let session = AuthenticationInterceptor(authenticator)
        let client = testClient(baseURL: "https://api.example", transport: StubTransport.accepting("token 1")) { session }
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(authenticator.saved.withLock { $0 } == ["token 1"])
        try await session.logIn("token 1")
        authenticator.expire("token 1")
        let call = Task { try await client.send(HTTPRequest("/")) }
        await refreshing.reached()
        try await session.logOut()
        refreshing.open()
        #expect(await call.result.errorOfCall != nil)
        #expect(authenticator.saved.withLock { $0 } == ["token 1", "token 1", nil])
    }
}

private struct SavingAuthenticator: Authenticator {
    let saved = Locked<[String?]>([])
    private let tokens: TestAuthenticator

    init(_ work: @escaping @Sendable (String?) async throws -> Void) { tokens = TestAuthenticator(work) }

    func apply(_ credential: String, to request: inout HTTPRequest) async throws {
        try await tokens.apply(credential, to: &request)
    }
    func refresh(_ credential: String?) async throws -> String { try await tokens.refresh(credential) }
    func needsRefresh(_ credential: String) -> Bool { tokens.needsRefresh(credential) }
    func expire(_ token: String) { tokens.expire(token) }
    func save(_ credential: String?) async throws { saved.withLock { $0.append(credential) } }
}
