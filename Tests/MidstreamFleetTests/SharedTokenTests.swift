import Foundation
import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("A token that members share", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedTokenTests {
    private let model = ModelStore(ContinuousClock())

    /// A member, whose messages to the store are lost while that is so, or answered too late.
    private func member(
        _ isCut: Locked<Bool> = Locked(false), _ fate: ModelLink.Fate = .isLost, key: FleetKey = testKey
    ) -> FleetCore {
        let link = ModelLink(model, patience: .zero) { isCut.withLock { $0 } ? fate : .arrives(after: .zero) }
        let core = FleetCore(name: "f", key: key, member: "m", clock: ContinuousClock(), store: link)
        Belongings.current?.add(core)
        return core
    }

    /// A member that has a hundred tokens, as long as somebody holds them, of which the store knows nothing.
    private func memberWithTokens(
        on clock: any Clock<Duration>, _ fate: @escaping @Sendable () async -> ModelLink.Fate
    ) -> (FleetCore, [SharedToken]) {
        let link = ModelLink(model, patience: .zero, fate: fate)
        let core = FleetCore(name: "f", key: testKey, member: "m", clock: clock, store: link)
        Belongings.current?.add(core)
        let tokens = (0..<100).map { core.sharedToken("t\($0)") }
        for token in tokens { _ = token.held(for: Issuer().first) }
        return (core, tokens)
    }

    private func isStored(_ token: SharedToken) -> Bool { model.withToken(token.name) { token, _ in token.isKnown } }

    /// The issuer's clock is ahead, so that what it gives out is later than any login here.
    private func authenticator(_ core: FleetCore, _ issuer: Issuer) -> FleetAuthenticator<OAuthAuthenticator> {
        Fleet(core).sharing(issuer.authenticator { Date() + 60 }, as: "t", whenAlone: .refreshAlone)
    }

    /// By client credentials, from an issuer that counts its tokens, and gives none while that is so.
    private func byClientCredentials(
        _ core: FleetCore, _ count: Locked<Int>, refused isRefused: Locked<Bool> = Locked(false)
    ) -> FleetAuthenticator<OAuthAuthenticator> {
        let endpoint = OAuthTokenEndpoint(url: "https://issuer.test/token", client: "app") { request in
            if isRefused.withLock({ $0 }) {
                return HTTPResponse(status: 400, body: .bytes(Array(#"{"error":"invalid_grant"}"#.utf8)), request: request)
            }
            let number = count.increment()
            let answer = #"{"access_token":"\#(number)","token_type":"bearer","expires_in":3600}"#
            return HTTPResponse(status: 200, body: .bytes(Array(answer.utf8)), request: request)
        }
        return Fleet(core).sharing(OAuthAuthenticator(.clientCredentials(), from: endpoint), as: "t")
    }

    /// A member that refreshes while another does something: the token's issuer, the other one, and what the refresh gives.
    private func refreshing(
        while change: (FleetAuthenticator<OAuthAuthenticator>) async throws -> Void
    ) async throws -> (Issuer, FleetAuthenticator<OAuthAuthenticator>, Task<OAuthToken, any Error>) {
        let (gate, isHeld) = (Gate(), Locked(false))
        let issuer = Issuer(before: { if isHeld.withLock({ $0 }) { await gate.wait() } })
        let (a, b) = (authenticator(member(), issuer), authenticator(member(), issuer))
        let token = try await a.refresh(nil)
        #expect(try await b.refresh(issuer.first) == token)
        isHeld.withLock { $0 = true }
        let refreshed = Task { try await a.refresh(token) }
        await gate.reached()
        try await change(b)
        gate.open()
        return (issuer, b, refreshed)
    }

    @Test("has no news in the removals of a cache, which come the same way")
    func removals() {
        let core = member()
        let (heard, names) = (core.newsHeard, core.names)
        for name in [names.url("https://h.test/a"), names.origin("https://h.test"), names.everything] {
            core.hear(names.news, [name])
        }
        #expect(core.newsHeard == heard)
        core.hear(names.news, [names.token("t")])
        core.hear(names.news, nil)
        #expect(core.newsHeard == heard + 2)
    }

    @Test("is put back when it is lost, and none but that")
    func loss() async {
        let (clock, sent) = (TestClock(), Locked(0))
        let (core, tokens) = memberWithTokens(on: clock) {
            sent.withLock { $0 += 1 }
            return .arrives(after: .zero)
        }
        core.hear(core.names.news, [core.names.token("t7") + ":lost"])
        await eventually { isStored(tokens[7]) }
        #expect(sent.withLock { $0 } == 1)
        #expect(tokens.filter(isStored).count == 1)
    }

    @Test("is found by its name among thousands, once for each that holds it, and forgotten when nobody does")
    func thousandsOfNames() {
        let core = member()
        var tokens = (0..<5_000).map { core.sharedToken("t\($0)") }
        let twin = core.sharedToken("t7")
        #expect(core.tokenNames == 5_000)
        for token in tokens where token.name != twin.name {
            #expect(core.tokens(named: token.name).map { $0 === token } == [true])
        }
        #expect(core.tokens(named: twin.name).count == 2)
        tokens = []
        #expect(core.tokens(named: twin.name).map { $0 === twin } == [true])
        #expect(core.tokenNames == 1)
    }

    @Test("is put back among others a few at a time, and again after those when it is lost on its way")
    func manyAtOnce() async {
        let (clock, gate, sent) = (TestClock(), Gate(), Locked((all: 0, present: 0, most: 0)))
        let (core, tokens) = memberWithTokens(on: clock) {
            let number = sent.withLock { sent in
                sent = (sent.all + 1, sent.present + 1, max(sent.most, sent.present + 1))
                return sent.all
            }
            await gate.wait()
            sent.withLock { $0.present -= 1 }
            return number <= 16 ? .isLost : .arrives(after: .zero)
        }
        core.changed(isConnected: true)
        await gate.reached(by: 16)
        gate.open()
        await eventually {
            clock.advance(by: SharedToken.offerPause)
            return tokens.allSatisfy(isStored)
        }
        #expect(sent.withLock { $0.most } == 16)
    }

    @Test("isn't read from a record with a number that can't be counted up", arguments: [-1, 1 << 53, Int64.max])
    func numbers(number: Int64) {
        for place in [0, 1, 4] {
            var fields: [RESPValue] = ["7", "8", "t", "", "9"].map { .bytes(Array($0.utf8)) }
            let record = TokenRecord(login: 9, generation: 7, obtained: 8, token: Array("t".utf8))
            #expect(TokenRecord(reply: .array(fields)) == record)
            fields[place] = .bytes(Array("\(number)".utf8))
            #expect(TokenRecord(reply: .array(fields)) == nil)
        }
    }

    @Test("isn't refreshed by a member that can't reach the store and doesn't know whether it can be used once")
    func unknownInOutage() async throws {
        let issuer = Issuer()
        let core = member(Locked(true))
        defer { core.close() }
        let authenticator = Fleet(core).sharing(issuer.authenticator(), as: "t")
        let error = await #expect(throws: FleetRefreshError.self) { try await authenticator.refresh(nil) }
        #expect(error?.code == .alone)
        #expect(issuer.counts == .init(refreshes: 0, reuses: 0))
    }

    @Test("is used in an outage until it expires by the clock of its authenticator", arguments: [-7_200.0, 7_200])
    func expiryInOutage(offset: TimeInterval) async throws {
        let core = member(Locked(true))
        defer { core.close() }
        let (now, expires) = (Locked(Date() + offset), Date() + offset + 60)
        let authenticator = Fleet(core).sharing(Issuer().authenticator { now.withLock { $0 } }, as: "t")
        let token = OAuthToken(accessToken: "a", refreshToken: "r", expires: expires)
        #expect(try await authenticator.refresh(token) == token)
        now.withLock { $0 += 61 }
        let error = await #expect(throws: FleetRefreshError.self) { try await authenticator.refresh(token) }
        #expect(error?.code == .alone)
    }

    @Test("is used in an outage also for a client of the same member that has an older one, or none")
    func laterInOutage() async throws {
        let core = member(Locked(true))
        defer { core.close() }
        // Due, but it hasn't expired.
        let later = OAuthToken(accessToken: "a", refreshToken: "r", obtained: Date() - 3_600, expires: Date() + 3_000)
        let shared = Fleet(core).sharing(Issuer().authenticator(leeway: .seconds(7_200)), as: "t")
        try await shared.save(later)
        for older in [nil, OAuthToken(accessToken: "b", refreshToken: "s", expires: .distantPast)] {
            #expect(try await shared.refresh(older) == later)
        }
    }

    @Test("is refreshed after an outage in which it was rejected more often than it may be refreshed in vain")
    func rejectedInOutage() async throws {
        let (issuer, isCut, clock) = (Issuer(), Locked(false), TestClock())
        _ = try await authenticator(member(), issuer).refresh(nil)
        let client = issuer.client(
            AuthenticationInterceptor(
                Fleet(member(isCut)).sharing(issuer.authenticator(), as: "t"), credential: issuer.first,
                origins: ["https://api.test"], refreshLimit: 1, clock: clock))
        #expect(try await client.status() == .ok)
        isCut.withLock { $0 = true }
        issuer.revokeAccess()
        for _ in 0..<3 {
            let response = try await client.send(HTTPRequest("https://api.test/"))
            #expect(response.status == .unauthorized)
            #expect("\(response.trace)".contains("rejected with 401; sent again with the same credential"))
        }
        isCut.withLock { $0 = false }
        // At once, though one that is only due would be used for a while.
        #expect(try await client.status() == .ok)
        #expect(issuer.counts == .init(refreshes: 2, reuses: 0))
    }

    @Test("is refreshed a pause after an outage in which it was due, and used until then")
    func dueInOutage() async throws {
        let (issuer, isCut, clock, now) = (Issuer(), Locked(false), TestClock(), Locked(Date()))
        let authenticator = issuer.authenticator(leeway: .seconds(1_800)) { now.withLock { $0 } }
        let client = issuer.client(
            AuthenticationInterceptor(
                Fleet(member(isCut)).sharing(authenticator, as: "t"), credential: issuer.first,
                origins: ["https://api.test"], clock: clock))
        #expect(try await client.status() == .ok)
        isCut.withLock { $0 = true }
        now.withLock { $0 += 2_000 }
        #expect(try await client.status() == .ok)
        isCut.withLock { $0 = false }
        #expect(try await client.status() == .ok)
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
        clock.advance(by: .milliseconds(100))
        #expect(try await client.status() == .ok)
        #expect(issuer.counts == .init(refreshes: 2, reuses: 0))
    }

    @Test("isn't obtained for a request that has a credential of its own")
    func ownCredential() async throws {
        let issuer = Issuer()
        let core = member(Locked(true))
        defer { core.close() }
        let request = HTTPRequest("https://api.test/", headers: [.authorization: "Own"])
        #expect(try await issuer.client(Fleet(core)).send(request).status == .unauthorized)
        #expect(issuer.counts == .init(refreshes: 0, reuses: 0))
    }

    @Test("isn't waited for at its issuer for longer than that may take, with the store or without", arguments: [false, true])
    func slowIssuer(isAlone: Bool) async {
        let issuer = Issuer()
        let core = member(Locked(isAlone))
        defer { core.close() }
        let authenticator = Fleet(core).sharing(
            issuer.authenticator(), as: "t", whenAlone: .refreshAlone, refreshTimeout: .zero)
        #expect(await httpError { try await authenticator.refresh(nil) }?.code == .timeout)
        #expect(issuer.counts == .init(refreshes: 0, reuses: 0))
    }

    @Test(
        "can't be had for good, where the issuer refuses it, and for now, where that can't answer",
        arguments: [true, false])
    func refusals(isForGood: Bool) async throws {
        let issuer = Issuer()
        if isForGood {
            // Somebody outside the fleet has spent it.
            _ = try await issuer.authenticator().refresh(issuer.first)
        } else {
            issuer.fail(10)
        }
        // The second is told by the store, which hears of it from the first, as long as that is there.
        for core in [member(), member()] {
            let client = issuer.client(Fleet(core), whenAlone: .refreshAlone)
            let error = await #expect(throws: HTTPError.self) { try await client.status() }
            #expect(error?.code == .authentication && error?.isForNow == !isForGood)
        }
    }

    @Test("isn't given up for good when the issuer refuses client credentials, by which nothing is spent")
    func refusedClient() async throws {
        let (count, isRefused) = (Locked(0), Locked(true))
        let core = member()
        let shared = byClientCredentials(core, count, refused: isRefused)
        await #expect(throws: OAuthError.self) { try await shared.refresh(nil) }
        let name = core.names.token("t")
        await eventually { model.withToken(name) { token, _ in token.failure != nil || token.record.isDead } }
        // As when its pause is over.
        model.withToken(name) { token, _ in token.failure = nil }
        isRefused.withLock { $0 = false }
        #expect(try await shared.refresh(nil).accessToken == "1")
    }

    private struct Postponing: Authenticator {
        struct Later: PostponedRefresh { let retryAfter = Duration.seconds(Int64.max) }

        func apply(_ credential: OAuthToken, to request: inout HTTPRequest) async throws {}
        func refresh(_ credential: OAuthToken?) async throws -> OAuthToken { throw Later() }
    }

    @Test("is left alone by all for a day at most, however much patience its authenticator asks for")
    func longPostponement() async throws {
        let core = member()
        let authenticator = Fleet(core).sharing(Postponing(), as: "t", whenAlone: .refreshAlone)
        await #expect(throws: Postponing.Later.self) { try await authenticator.refresh(nil) }
        await eventually { model.withToken(core.names.token("t")) { token, _ in token.failure != nil } }
        let left = model.withToken(core.names.token("t")) { token, now in token.failure.map { $0.until - now } }
        #expect(left.map { $0 <= .seconds(86_400) } == true)
    }

    @Test("isn't withheld from the others when a member got the right to refresh it, and heard of that too late")
    func lateTurn() async throws {
        let issuer = Issuer()
        let isLate = Locked(false)
        let core = member(isLate, .isAnsweredLate)
        let a = Fleet(core).sharing(issuer.authenticator { Date() + 60 }, as: "t")
        let token = try await authenticator(member(), issuer).refresh(nil)
        #expect(try await a.refresh(issuer.first) == token)
        isLate.withLock { $0 = true }
        // It goes on with the old one.
        #expect(try await a.refresh(token) == token)
        let name = core.names.token("t")
        await eventually { model.withToken(name) { token, _ in token.lock == nil } }
        #expect(model.withToken(name) { token, _ in token.spentUntil == nil })
    }

    /// A member that is stopped each time that it is answered, but for the last: for two minutes, in which something else is done.
    private func stopped(
        _ times: Int, _ model: ModelStore, on clock: TestClock, while change: @escaping @Sendable () async -> Void = {}
    ) -> FleetCore {
        let left = Locked(times)
        let link = ModelLink(model) {
            let isLast = left.withLock { left in
                left -= 1
                return left < 0
            }
            if isLast { return .arrives(after: .zero) }
            return .isAnswered(after: {
                clock.advance(by: .seconds(120))
                await change()
            })
        }
        let core = FleetCore(name: "f", key: testKey, member: "m", clock: clock, store: link)
        Belongings.current?.add(core)
        return core
    }

    @Test("isn't spent again by a member that was stopped while it was told that it may, and another one did meanwhile")
    func stoppedBeforeItsTurn() async throws {
        let (issuer, clock) = (Issuer(), TestClock())
        let model = ModelStore(clock)
        let other = authenticator(stopped(0, model, on: clock), issuer)
        let core = stopped(1, model, on: clock) { _ = try? await other.refresh(nil) }
        #expect(try await authenticator(core, issuer).refresh(nil).accessToken == "canary-access-1")
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
    }

    @Test("isn't asked for without end by a member that is stopped again and again", arguments: [5, 6])
    func stoppedAgain(times: Int) async throws {
        let (issuer, clock) = (Issuer(), TestClock())
        let a = authenticator(stopped(times, ModelStore(clock), on: clock), issuer)
        if times == 5 {
            #expect(try await a.refresh(nil).accessToken == "canary-access-1")
        } else {
            let error = await #expect(throws: FleetRefreshError.self) { try await a.refresh(nil) }
            #expect(error?.code == .late && issuer.counts == .init(refreshes: 0, reuses: 0))
        }
    }

    @Test("is refreshed also where the store forgets it every second", arguments: [false, true])
    func forgottenAgain(isKnown: Bool) async throws {
        let (issuer, clock, isDone) = (Issuer(), TestClock(), Locked(false))
        let (model, forgotten) = (ModelStore(clock), Locked((last: Duration.zero, count: 0)))
        let link = ModelLink(model) {
            let now = model.stopwatch.elapsed
            forgotten.withLock { forgotten in
                if now - forgotten.last >= .seconds(1), model.forget() { forgotten = (now, forgotten.count + 1) }
            }
            return .arrives(after: .zero)
        }
        let core = FleetCore(name: "f", key: testKey, member: "m", clock: clock, store: link)
        Belongings.current?.add(core)
        let shared = Fleet(core).sharing(issuer.authenticator(), as: "t")
        let refreshing = Task {
            defer { isDone.withLock { $0 = true } }
            return try await shared.refresh(isKnown ? issuer.first : nil)
        }
        await eventually {
            clock.advance(by: .milliseconds(20))
            return isDone.withLock { $0 } || forgotten.withLock { $0.count } >= 10
        }
        refreshing.cancel()
        #expect(try await refreshing.value.accessToken == "canary-access-1")
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
    }

    @Test("is sealed anew by a member that opens it with a former key, so that others can do without that")
    func rotation() async throws {
        let issuer = Issuer()
        let token = try await authenticator(member(), issuer).refresh(nil)
        let between = authenticator(member(key: makeKey(2, alsoOpening: 1)), issuer)
        #expect(try await between.refresh(nil) == token)
        let core = member(key: makeKey(2))
        let name = core.names.token("t")
        func stored() -> TokenRecord { model.withToken(name) { token, _ in token.record } }
        await eventually { core.key.hasSealed(stored().token, for: name) }
        #expect(try await authenticator(core, issuer).refresh(nil) == token)
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
    }

    @Test("is obtained anew by client credentials where none of a member's keys opens it")
    func unopened() async throws {
        let count = Locked(0)
        let old = try await byClientCredentials(member(), count).refresh(nil)
        let new = try await byClientCredentials(member(key: makeKey(2)), count).refresh(nil)
        #expect([old, new].map(\.accessToken) == ["1", "2"])
        #expect(try await byClientCredentials(member(key: makeKey(2)), count).refresh(old) == new)
        let error = await #expect(throws: FleetRefreshError.self) {
            try await authenticator(member(key: makeKey(3)), Issuer()).refresh(nil)
        }
        #expect(error?.code == .unreadable)
    }

    @Test("of a login that ends while it is refreshed is thrown away")
    func logoutDuringRefresh() async throws {
        let (issuer, b, refreshed) = try await refreshing { try await $0.save(nil) }
        await #expect(throws: RefreshRefusal.loginEnded) { try await refreshed.value }
        await #expect(throws: OAuthError.self) { try await b.refresh(nil) }
        #expect(issuer.counts == .init(refreshes: 2, reuses: 0))
    }

    @Test("of a login that is replaced while it is refreshed doesn't come back")
    func loginDuringRefresh() async throws {
        let other = OAuthToken(accessToken: "other", refreshToken: "r", expires: .distantFuture)
        let (issuer, _, refreshed) = try await refreshing { try await $0.save(other) }
        #expect(try await refreshed.value == other)
        #expect(try await authenticator(member(), issuer).refresh(nil) == other)
    }

    @Test("of a login is everybody's although it is due or was held before, and is ended by who hasn't heard of it")
    func explicitLogin() async throws {
        let issuer = Issuer()
        let (shared, other) = (authenticator(member(), issuer), authenticator(member(), issuer))
        let session = AuthenticationInterceptor(shared)
        let token = try await shared.refresh(nil)
        try await session.logIn(OAuthToken(accessToken: "due", refreshToken: "canary-refresh-1", expires: .distantPast))
        let refreshed = try await other.refresh(nil)
        #expect(refreshed.accessToken == "canary-access-2")
        try await session.logIn(token)
        #expect(try await other.refresh(refreshed) == token)
        try await session.logOut()
        let login = OAuthToken(accessToken: "other", refreshToken: "r", expires: .distantFuture)
        try await other.save(login)
        try await session.logOut()
        await #expect(throws: RefreshRefusal.loginEnded) { try await other.refresh(login) }
    }

    @Test("of a login is everybody's also when it is set before the first call of a member that had another")
    func loginBeforeACall() async throws {
        let issuer = Issuer()
        let (shared, other) = (authenticator(member(), issuer), authenticator(member(), issuer))
        let token = try await other.refresh(nil)
        let former = OAuthToken(accessToken: "former", refreshToken: "f", expires: .distantFuture)
        let session = AuthenticationInterceptor(shared, credential: former)
        let login = OAuthToken(accessToken: "login", refreshToken: "l", expires: .distantFuture)
        try await session.logIn(login)
        #expect(try await other.refresh(token) == login)
    }

    @Test("of a login is everybody's also when that is the first thing that a member does")
    func loginAtFirst() async throws {
        let issuer = Issuer()
        let (shared, other) = (authenticator(member(), issuer), authenticator(member(), issuer))
        let token = try await other.refresh(nil)
        let session = AuthenticationInterceptor(shared)
        let login = OAuthToken(accessToken: "login", refreshToken: "l", expires: .distantFuture)
        try await session.logIn(login)
        #expect(try await other.refresh(token) == login)
    }

    @Test("isn't replaced by what a second client of a member begins with, though that isn't due")
    func secondBeginning() async throws {
        let issuer = Issuer()
        let shared = authenticator(member(), issuer)
        let token = try await shared.refresh(nil)
        let former = OAuthToken(accessToken: "canary-access-0", refreshToken: "canary-refresh-0")
        // Whose first call saves what it begins with.
        let second = issuer.client(AuthenticationInterceptor(shared, credential: former, origins: ["https://api.test"]))
        #expect(try await second.status() == .ok)
        #expect(try await authenticator(member(), issuer).refresh(nil) == token)
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
    }

    @Test("of a login is ended by a member that has just been started, and knows of none")
    func logoutAtFirst() async throws {
        let issuer = Issuer()
        let (a, b) = (authenticator(member(), issuer), authenticator(member(), issuer))
        let token = try await a.refresh(nil)
        try await b.save(nil)
        await #expect(throws: OAuthError.self) { try await b.refresh(nil) }
        await #expect(throws: RefreshRefusal.loginEnded) { try await a.refresh(token) }
        #expect(issuer.counts == .init(refreshes: 1, reuses: 0))
    }

    @Test("of a login isn't ended by a logout from before it, of which a member didn't hear that it was done")
    func lateLogout() async throws {
        let issuer = Issuer()
        let isLate = Locked(false)
        let (a, b) = (authenticator(member(), issuer), authenticator(member(isLate, .isAnsweredLate), issuer))
        let token = try await a.refresh(nil)
        #expect(try await b.refresh(issuer.first) == token)
        isLate.withLock { $0 = true }
        try await b.save(nil)
        await #expect(throws: RefreshRefusal.loginEnded) { try await a.refresh(token) }
        let login = OAuthToken(accessToken: "other", refreshToken: "r", expires: .distantFuture)
        try await a.save(login)
        isLate.withLock { $0 = false }
        #expect(try await b.refresh(nil) == login)
        #expect(try await authenticator(member(), issuer).refresh(nil) == login)
    }

    @Test("of a login is ended by a member that couldn't reach the store, and hadn't heard of that login")
    func logoutInOutage() async throws {
        let issuer = Issuer()
        let isCut = Locked(false)
        let (a, b) = (authenticator(member(), issuer), authenticator(member(isCut), issuer))
        let token = try await a.refresh(nil)
        #expect(try await b.refresh(issuer.first) == token)
        isCut.withLock { $0 = true }
        let logins = ["first", "second"].map {
            OAuthToken(accessToken: $0, refreshToken: "r", obtained: Date() + 120, expires: .distantFuture)
        }
        for login in logins { try await a.save(login) }
        try await b.save(nil)
        isCut.withLock { $0 = false }
        await #expect(throws: OAuthError.self) { try await b.refresh(nil) }
        await #expect(throws: RefreshRefusal.loginEnded) { try await a.refresh(logins[1]) }
    }
}
