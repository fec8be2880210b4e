import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A status that is acceptable and retriable is retried while that is possible, and then accepted", .leavesNothing)
struct PreferredRetryTests {
    private let both = DefaultValidator(acceptableStatus: 200..<600, retriableStatus: [202: .immediate, 503: .immediate])

    private func sent(
        _ statuses: [HTTPStatus], maxRetries: Int, method: HTTPMethod = .get, then: [any HTTPValidator] = [],
        budget: RetryBudget? = nil
    ) async throws -> (count: Int, status: HTTPStatus) {
        let stub = StubTransport(sequence: statuses.map { .respond($0) })
        let client = ArbiterBench().client(stub, maxRetries: maxRetries, validators: [both] + then) { $0.retryBudget = budget }
        let response = try await client.send(HTTPRequest(method, "/"))
        return (stub.requests.count, response.status)
    }

    @Test func itIsRetried() async throws {
        #expect(try await sent([202, 202, 200], maxRetries: 5) == (3, 200))
        #expect(try await sent([503, 200], maxRetries: 1) == (2, 200))
    }

    @Test func theLastOneIsAccepted() async throws {
        #expect(try await sent([202, 503], maxRetries: 1) == (2, 503))
        #expect(try await sent([503], maxRetries: 0) == (1, 503))
        #expect(try await sent([503], maxRetries: 3, method: .post) == (1, 503))
        #expect(try await sent([503], maxRetries: 3, budget: RetryBudget(share: 0, reserve: 0)) == (1, 503))
    }

    @Test func itIsAcceptedWhereItsOriginIsToBeLeftAloneForTooLong() async throws {
        let stub = StubTransport(status: 503, headers: [.retryAfter: "30"])
        let validator = DefaultValidator(acceptableStatus: 200..<600, retriableStatus: [503: .custom { _ in .zero }])
        let client = ArbiterBench().client(stub, maxRetries: 3, validators: [validator]) { $0.sharesRetryAfter = true }
        var request = HTTPRequest("/")
        request.deadline = .seconds(9)
        #expect(try await client.send(request).status == 503 && stub.requests.count == 1)
    }

    @Test func otherValidatorsAreAskedThen() async throws {
        let picky = CallbackValidator { response, _ in .fail(HTTPError(.validation, "No.", response: response)) }
        let error = await httpError { try await sent([503, 503], maxRetries: 1, then: [picky]) }
        #expect(error?.code == .validation)
    }

    @Test func oneThatIsOnlyRetriableFails() async throws {
        let stub = StubTransport(status: 503)
        let client = ArbiterBench().client(
            stub, maxRetries: 1, validators: [DefaultValidator(retriableStatus: [503: .immediate])])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.cause == .unacceptableStatus)
    }

    @Test("The cause is what the last attempt failed with")
    func cause() {
        let timeout = HTTPError(.timeout)
        #expect(timeout.cause == .timeout)
        let exhausted = HTTPError(.retriesExhausted, underlying: timeout)
        #expect(exhausted.cause == .timeout)
        #expect(HTTPError(.bodyNotReplayable, underlying: exhausted).cause == .timeout)
        #expect(HTTPError(.bodyNotReplayable).cause == .bodyNotReplayable)
        #expect(HTTPError(.authentication, underlying: timeout).cause == .authentication)
    }

    @Test("Without validators there is one attempt, and the plan says so")
    func plan() async throws {
        let client = ArbiterBench().client(StubTransport.ok, maxRetries: 3, validators: [])
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("one attempt, since there are no validators"))
    }
}

@Suite("Settings of a request say what they mean", .leavesNothing)
struct InheritedSettingsTests {
    @Test func redirectsAreFollowedOrNot() async throws {
        for (policy, count) in [(RedirectPolicy.inherited, 1), (.follow(), 2)] {
            let stub = StubTransport(sequence: [.respond(.found, headers: [.location: "/b"]), .respond(.ok)])
            let client = testClient(
                baseURL: "https://h", configuration: .init(validators: [], redirects: .refuse), transport: stub)
            var request = HTTPRequest("/a")
            request.redirects = policy
            _ = try await client.send(request)
            #expect(stub.requests.count == count)
        }
    }
}
