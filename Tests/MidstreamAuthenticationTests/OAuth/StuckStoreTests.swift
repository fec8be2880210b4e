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
}
