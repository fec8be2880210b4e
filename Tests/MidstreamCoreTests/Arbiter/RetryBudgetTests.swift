import Interception
@testable import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. The budget for retries", .leavesNothing)
struct RetryBudgetTests {
    private let bench = ArbiterBench()
    private let busy = StubTransport(status: 503)
    private let validators = [DefaultValidator(retriableStatus: [503: .immediate])]
    private let hour = RetryBudget(window: .seconds(3_600))

    @Test("retries are at most a fifth of the calls, and ten")
    func share() async {
        let client = bench.client(busy, maxRetries: 1, validators: validators) { $0.retryBudget = hour }
        var refused = 0
        for _ in 1...100 {
            let error = await httpError { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == .retriesExhausted && error?.response?.status == 503)
            if error?.message.contains("budget") == true {
                refused += 1
                #expect(error?.trace?.arbiterNotes.last?.contains("budget is used up") == true)
            }
        }
        #expect(busy.requests.count == 130 && refused == 70)
        #expect(client.retryBudget?.calls == 100 && client.retryBudget?.retries == 30 && client.retryBudget?.available == 0)
    }

    @Test("the reserve covers ten retries of a client without traffic")
    func reserve() async {
        let client = bench.client(busy, maxRetries: 50, validators: validators) { $0.retryBudget = hour }
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(busy.requests.count == 11)
    }

    @Test("after any other failure than throttling a retry costs two", arguments: [500, nil])
    func cost(status: Int?) async {
        let failing = StubTransport { request in
            guard let status else { throw HTTPError(.timeout) }
            return HTTPResponse(status: HTTPStatus(status), request: request)
        }
        let validator = DefaultValidator(retriableStatus: [500: .immediate], retriableErrors: [.timeout: .immediate])
        let client = bench.client(failing, maxRetries: 50, validators: [validator]) { $0.retryBudget = hour }
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(failing.requests.count == 6)
        #expect(client.retryBudget == RetryBudget.State(calls: 1, retries: 5, available: 0))
    }

    @Test("a retry that costs two isn't made where one is left")
    func odd() async {
        let failing = StubTransport { _ in throw HTTPError(.timeout) }
        let validator = DefaultValidator(retriableErrors: [.timeout: .immediate])
        let client = bench.client(failing, maxRetries: 50, validators: [validator]) {
            $0.retryBudget = RetryBudget(reserve: 3, window: .seconds(3_600))
        }
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(failing.requests.count == 2)
        #expect(client.retryBudget == RetryBudget.State(calls: 1, retries: 1, available: 1))
    }

    @Test("a retry that a user's validator asks for is exempt, alternates included")
    func explicit() async {
        let none = RetryBudget(share: 0, reserve: 0)
        let client = bench.client(busy, maxRetries: 5, validators: [AlwaysRetry()]) { $0.retryBudget = none }
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(busy.requests.count == 6 && client.retryBudget?.retries == 0)
        let task = bench.client(busy, validators: [AlternateTaskValidator(statuses: [503]) { _ in }]) { $0.retryBudget = none }
        _ = try? await task.send(HTTPRequest("/"))
        #expect(busy.requests.count == 8)
    }

    @Test("it is on by default, where retries are allowed, and off with nil")
    func defaults() async {
        #expect(HTTPClient.Configuration().retryBudget == RetryBudget(share: 0.2, reserve: 10, window: .seconds(10)))
        let off = bench.client(busy, maxRetries: 50, validators: validators) { $0.retryBudget = nil }
        _ = await httpError { try await off.send(HTTPRequest("/")) }
        #expect(busy.requests.count == 51 && off.retryBudget == nil)
        let unused = bench.client(StubTransport.ok) { $0.retryBudget = hour }
        _ = try? await unused.send(HTTPRequest("/"))
        #expect(unused.retryBudget == RetryBudget.State(calls: 0, retries: 0, available: 10))
    }

    @Test("what is older than the window doesn't count, to a tenth of it")
    func window() {
        let clock = TestClock()
        let ledger = RetryLedger(RetryBudget(share: 0.5, reserve: 1, window: .seconds(10)), on: clock)
        func set(_ seconds: Double) { clock.advance(to: TestClock.Instant(offset: .seconds(seconds))) }
        for _ in 1...4 { ledger.countCall() }
        #expect((1...4).map { _ in ledger.takeRetry() } == [true, true, true, false])
        set(9.9)
        #expect(ledger.state == RetryBudget.State(calls: 4, retries: 3, available: 0))
        ledger.countCall()
        set(10)
        // The first tenth is over, and with it four calls and three retries.
        #expect(ledger.state == RetryBudget.State(calls: 1, retries: 0, available: 1))
        #expect([ledger.takeRetry(), ledger.takeRetry()] == [true, false])
        set(1e6)
        #expect(ledger.state == RetryBudget.State(calls: 0, retries: 0, available: 1))
    }

    @Test(
        "odd budgets are taken for what is nearest to them",
        arguments: [
            (RetryBudget(share: .nan, reserve: 3), 1), (RetryBudget(share: -1, reserve: 3), 1),
            (RetryBudget(share: .nan, reserve: 0), 0), (RetryBudget(share: -1, reserve: 0), 0),
            (RetryBudget(share: .infinity, reserve: 0), 1), (RetryBudget(share: 1e300, reserve: .max), 1),
            (RetryBudget(share: 0, reserve: .max), 1), (RetryBudget(share: 0, reserve: .min), 0),
            (RetryBudget(share: 0, reserve: 1, window: .seconds(Int64.max)), 1),
            (RetryBudget(share: 0, reserve: 1, window: .seconds(-5)), 1),
        ])
    func odd(budget: RetryBudget, allowed: Int) {
        let ledger = RetryLedger(budget, on: TestClock())
        for _ in 1...10 { ledger.countCall() }
        #expect(ledger.state.calls == 10)
        #expect(ledger.takeRetry() == (allowed == 1))
    }

    @Test("many calls at once are all counted, and no retry too many is given")
    func concurrency() async {
        let client = bench.client(busy, maxRetries: 2, validators: validators) { $0.retryBudget = hour }
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...1_000 { group.addTask { _ = try? await client.send(HTTPRequest("/")) } }
        }
        #expect(client.retryBudget?.calls == 1_000)
        #expect((client.retryBudget?.retries ?? 0) <= 210 && busy.requests.count == 1_000 + (client.retryBudget?.retries ?? 0))
    }
}
