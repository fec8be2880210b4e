import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("What midst -w prints", .leavesNothing, .timeLimit(.minutes(10)))
struct SummaryTests {
    @Test("is of a hedged call the exchange that won, although the other one ends behind it")
    func hedged() async throws {
        let (clock, summary, count) = (TestClock(), SummaryObserver(), Locked(0))
        let stub = StubTransport { request in
            let number = count.increment()
            if number == 1 { try await untilCancelled() }
            return HTTPResponse(status: 200, request: request)
        }
        let client = testClient(
            configuration: .init(timeout: nil, clock: clock, observers: [summary]), transport: stub
        ) {
            Hedging()
        }
        async let call = client.send(HTTPRequest("https://h/"))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        _ = try await call
        #expect(try SummaryFormat("%{http_code} of %{num_exchanges}").text(of: summary.summary) == "200 of 2")
    }
}
