import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// What a token store costs that doesn't return.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct StuckStoreTests {
    @Test("A token that the endpoint gave in time is used though the store holds the refresh up until it is cancelled")
    func readingAfterARefresh() async throws {
        let clock = TestClock()
        let (service, hanging) = (LoginService(), Gate())
        let store = TestTokenStore(
            LoginService.token("ann"),
            beforeLoad: {
                guard !service.spent.isEmpty else { return }
                hanging.open()
                try await untilCancelled()
            })
        let (client, _) = service.client(store, clock: clock)
        let call = Task { try await client.send(HTTPRequest("/")).status }
        await hanging.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await call.value == .ok)
        #expect(service.sent == ["ann-0", "ann-1"])
        #expect(store.present == "ann-1")
    }

    /// A store whose first saving hangs, which opens a gate.
    private static func hangingOnce(_ hanging: Gate) -> TestTokenStore {
        let isStuck = Locked(true)
        return TestTokenStore(
            LoginService.token("ann"),
            beforeSave: { _ in
                guard
                    isStuck.withLock({ isStuck in
                        defer { isStuck = false }; return isStuck
                    })
                else { return }
                hanging.open()
                try await untilCancelled()
            })
    }

    @Test("Saving that hangs is given up, so that neither the next refresh nor the next login waits for it")
    func saving() async throws {
        let clock = TestClock()
        let (service, hanging) = (LoginService(), Gate())
        let store = Self.hangingOnce(hanging)
        let (client, session) = service.client(store, clock: clock)
        let call = Task { try await client.send(HTTPRequest("/")).status }
        await hanging.wait()
        // Of the refresh, which waits for the saving, and of the saving itself.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(60))
        #expect(try await call.value == .ok)
        service.expire("ann")
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(service.sent == ["ann-0", "ann-1", "ann-1", "ann-2"])
        #expect(store.present == "ann-2")
        try await session.logIn(LoginService.token("bob"))
        #expect(store.present == "bob-0")
    }

    @Test(
        "A call has no other user's token while the saving of that one hangs",
        arguments: [(10, false), (10, true), (60, false)])
    func switchingUsers(refreshTimeout: Int, isOffered: Bool) async throws {
        let clock = TestClock()
        let (service, hanging) = (LoginService(), Gate())
        let store = Self.hangingOnce(hanging)
        let (client, session) = service.client(store, refreshTimeout: .seconds(refreshTimeout), clock: clock)
        let anns = Task { try await client.send(HTTPRequest("/")).status }
        await hanging.wait()
        // Of the refresh, which waits for the saving, and of the saving itself.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        let login = Task { try await session.logIn(LoginService.token("bob")) }
        await eventually { session.credential?.accessToken == "bob-0" }
        if isOffered { #expect(session.offer(OAuthToken(accessToken: "bob-7", refreshToken: "bob-r7"))) }
        let bobs = Task { try await client.send(HTTPRequest("/")).status }
        await clock.waitForSleepers(3)
        // The refresh of the one ends before the saving of the other, or has the whole of its time after that.
        clock.advance(by: .seconds(refreshTimeout < 60 ? refreshTimeout : 55))
        if refreshTimeout < 60 {
            #expect(await httpError { try await bobs.value }?.code == .authentication)
            clock.advance(by: .seconds(45))
        }
        try await login.value
        if refreshTimeout == 60 { #expect(try await bobs.value == .ok) }
        #expect(await httpError { try await anns.value }?.code == .authentication)
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(!service.sent.contains("ann-1"))
        #expect(store.present == (isOffered ? "bob-8" : "bob-1"))
    }
}
