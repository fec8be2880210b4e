import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D3 Retry and Timeout", .leavesNothing) struct RetryTimeoutTests {
    @Test func retryWaitsOnItsClockAndNumbersTheRetries() async throws {
        let clock = TestClock()
        let stub = StubTransport.statuses(503, 503, 200)
        let task = HTTPClient.stubbed(stub).get("a").askAgain(5, delay: { .seconds($0) }, clock: clock)
        let running = Task { try await task.result() }
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline == .init(offset: .seconds(1)))
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
        #expect(clock.nextDeadline == .init(offset: .seconds(3)))
        clock.advance(by: .seconds(2))
        #expect(try await running.value.head.status == .ok)
        #expect(stub.requests.count == 3)
    }

    @Test func retryGivesTheLastResultWhenItsLimitIsReached() async throws {
        let stub = StubTransport.statuses(503, 502, 504)
        let result = try await HTTPClient.stubbed(stub).get("a").askAgain(2).result()
        #expect(result.head.status == 504)
        #expect(stub.requests.count == 3)
    }

    @Test func retryRepeatsOnlyWhatMayPassAndMayBeSentTwice() async throws {
        let client = { (stub: StubTransport) in HTTPClient.stubbed(stub) }
        let refused = StubTransport.statuses(404, 200)
        #expect(try await client(refused).get("a").askAgain(1).result().head.status == 404)
        let post = StubTransport.statuses(503, 200)
        #expect(try await client(post).post("a").askAgain(1).result().head.status == 503)
        let unsafe = StubTransport.statuses(503, 200)
        #expect(try await client(unsafe).post("a").allowsUnsafeRetry().askAgain(1).result().head.status == 200)
        let key = StubTransport.statuses(503, 200)
        #expect(try await client(key).post("a").header(.idempotencyKey, "1").askAgain(1).result().head.status == 200)
        let once = StubTransport.statuses(503, 200)
        let body = HTTPBody.once(AsyncStream([[1, 2, 3]]))
        #expect(try await client(once).put("a", body: body).askAgain(1).result().head.status == 503)
        #expect(once.requests.count == 1)
        let unsent = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(200)])
        #expect(try await client(unsent).post("a").askAgain(1).result().head.status == 200)
        let lost = StubTransport(sequence: [.fail(HTTPError(.connectionLost)), .respond(200)])
        #expect((await failure { try await client(lost).post("a").askAgain(1).result() } as? HTTPError)?.code == .connectionLost)
        let own = MockedTask<Int> { throw Failure() }
        #expect(await failure { try await own.askAgain(3).result() } is Failure)
    }

    @Test("a POST isn't sent again because what it redirects to fails", arguments: [true, false])
    func redirectedPost(isAnswered: Bool) async throws {
        let stub = StubTransport { request in
            guard request.method == .get else {
                return HTTPResponse(status: 303, headers: ["Location": "/b"], request: request)
            }
            guard isAnswered else { throw HTTPError(.connectionLost, request: request) }
            return HTTPResponse(status: 503, request: request)
        }
        _ = try? await HTTPClient.stubbed(stub).post("a").askAgain(1).result()
        #expect(stub.requests.map(\.method) == [.post, .get])
    }

    @Test("a POST isn't asked again for the sake of a key that an interceptor gives each call", arguments: [503, 303])
    func keyOfEachCall(code: Int) async throws {
        let stub = StubTransport { request in
            let status = request.method == .post ? HTTPStatus(code) : .serviceUnavailable
            return HTTPResponse(status: status, headers: ["Location": "/b"], request: request)
        }
        let client = testClient(baseURL: "https://example.com", transport: stub) {
            ClosureRequestInterceptor { $0.headers[.idempotencyKey] = $0.id.uuidString }
        }
        #expect(try await client.post("a").askAgain(1).result().head.status == 503)
        _ = try? await client.post("a").acceptOnlyStatusCode([201]).askAgain(1).result()
        #expect(stub.requests.filter { $0.method == .post }.count == 2)
    }

    @Test("nor is one whose answer breaks off while it is read")
    func keyOfEachStreamedCall() async throws {
        let stub = StubTransport { request in
            let lost = HTTPError(.connectionLost, request: request, phase: .answered)
            return HTTPResponse(status: .created, body: .incoming(next: { throw lost }, close: {}), request: request)
        }
        let client = testClient(baseURL: "https://example.com", transport: stub) {
            ClosureRequestInterceptor { $0.headers[.idempotencyKey] = $0.id.uuidString }
        }
        let task = client.post("a").streamed().collectData().askAgain(1)
        #expect((await failure { try await task.result() } as? HTTPError)?.code == .connectionLost)
        #expect(stub.requests.count == 1)
        _ = await failure { try await client.post("a").allowsUnsafeRetry().streamed().collectData().askAgain(1).result() }
        #expect(stub.requests.count == 3)
    }

    @Test("nor where the task alone refuses the answer")
    func keyOfEachCallOfARefusingTask() async throws {
        let stub = StubTransport { HTTPResponse(status: 503, request: $0) }
        let client = testClient(baseURL: "https://example.com", configuration: .init(validators: []), transport: stub) {
            ClosureRequestInterceptor { $0.headers[.idempotencyKey] = $0.id.uuidString }
        }
        _ = await failure { try await client.post("a").streamed().acceptOnlyStatusCode([201]).askAgain(1).result() }
        #expect(stub.requests.count == 1)
    }

    @Test("a PUT whose body is used up isn't asked again because what it redirects to fails: the server's answer stands")
    func redirectedOnceBody() async throws {
        let stub = StubTransport(sequence: [
            .respond(303, headers: ["Location": "/b"]), .respond(302, headers: ["Location": "/c"]), .respond(503),
        ])
        let body = HTTPBody.once(AsyncStream([[1, 2, 3]]))
        #expect(try await HTTPClient.stubbed(stub).put("a", body: body).askAgain(1).result().head.status == 503)
        #expect(stub.requests.map(\.method) == [.put, .get, .get])
    }

    @Test("a POST isn't sent again because what its interceptor asks for fails", arguments: [true, false])
    func interceptedPost(isSent: Bool) async throws {
        let stub = StubTransport(status: .ok)
        let rates = HTTPClient.stubbed(
            StubTransport { throw HTTPError(.timeout, request: $0, phase: isSent ? .maybeProcessed : .notSent) })
        let client = testClient(baseURL: "https://example.com", transport: stub) {
            ClosureResponseInterceptor { _ in _ = try await rates.get("b").result() }
        }
        let error = await failure { try await client.post("a").askAgain(1).result() } as? HTTPError
        #expect(error?.code == .timeout && error?.phase == .maybeProcessed)
        _ = await failure { try await client.get("a").askAgain(1).result() }
        #expect(stub.requests.map(\.method) == [.post, .get, .get])
    }

    @Test func cancellingDuringTheDelaySendsNothingMore() async throws {
        let clock = TestClock()
        let stub = StubTransport.statuses(503, 200)
        let task = HTTPClient.stubbed(stub).get("a").askAgain(1, delay: { _ in .seconds(9) }, clock: clock)
        let running = Task { try await task.result() }
        await clock.waitForSleepers(1)
        running.cancel()
        #expect(await failure { try await running.value } is CancellationError)
        #expect(stub.requests.count == 1)
    }

    @Test func aDeadlineCancelsWhatTakesTooLong() async throws {
        let clock = TestClock()
        let log = Log<String>()
        let task = MockedTask<Int> {
            try await clock.sleep(for: .seconds(100))
            return 1
        }
        .detach { if case .failure(let error) = $0 { log.add("\(type(of: error))") } }
        .deadline(.seconds(5), clock: clock)
        let running = Task { try await task.result() }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        #expect((await failure { try await running.value } as? HTTPError)?.code == .deadlineExceeded)
        #expect(log.entries == ["CancellationError"])
    }

    @Test func aDeadlineLeavesInTimeResultsAndErrorsAlone() async throws {
        let clock = TestClock()
        #expect(try await MockedTask { 1 }.deadline(.seconds(5), clock: clock).result() == 1)
        #expect(
            await failure { try await MockedTask<Int> { throw Failure() }.deadline(.seconds(5), clock: clock).result() }
                is Failure)
        let late = await failure { try await MockedTask { 1 }.deadline(.zero, clock: clock).result() }
        #expect((late as? HTTPError)?.code == .deadlineExceeded)
        #expect(clock.sleepers == 0)
    }

    @Test func theTimeoutOfADataTaskIsThatOfItsRequest() {
        let task = HTTPClient.stubbed(.json("")).get("a").timeout(.seconds(5))
        #expect(task.request.timeout == .seconds(5))
    }

    @Test func aTimeoutBehindAModifierLimitsEachAttempt() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://example.com", transport: stub)
        _ = try await client.get("a").acceptOnlyStatusCode([200]).timeout(.seconds(5)).result()
        _ = try await client.get("b").timeout(.seconds(3)).map { $0 }.timeout(.seconds(5)).result()
        #expect(stub.requests.map(\.timeout) == [.seconds(5), .seconds(3)])
    }

    @Test func aTimeoutLimitsWhatItsOwnTaskSendsInAnInterceptorTooAndAnOuterOneDoesNot() async throws {
        let stub = StubTransport(status: .ok)
        let tokens = HTTPClient.stubbed(stub)
        let client = testClient(baseURL: "https://example.com", transport: stub) {
            ClosureRequestInterceptor { _ in
                _ = try await tokens.get("a").map { $0 }.timeout(.seconds(5)).result()
                _ = try await tokens.get("b").map { $0 }.askAgain(1).result()
            }
        }
        _ = try await client.get("c").map { $0 }.timeout(.seconds(9)).result()
        #expect(stub.requests.map(\.timeout) == [.seconds(5), nil, .seconds(9)])
    }
}

@Suite("Asking again and retrying multiply, and the trace says so", .leavesNothing)
struct RepetitionTests {
    @Test func itIsNoted() async throws {
        let stub = StubTransport(status: .serviceUnavailable)
        let client = HTTPClient.stubbed(stub) {
            $0.validators = [DefaultValidator(retriableStatus: [.serviceUnavailable: .immediate])]
        }
        let result = await failure { try await client.get("a").retries(2).askAgain(2).extractPayload().result() }
        #expect(stub.requests.count == 9)
        let trace = try #require((result as? HTTPError)?.trace)
        #expect("\(trace)".contains("asked again, 2 of at most 2 times, with up to 2 retries each time"))
        let single = try await HTTPClient.stubbed(.json("1")).get("a").retries(2).askAgain(2).result()
        #expect(!"\(try #require(single.response).trace)".contains("asked again"))
    }

    @Test("a failure that may pass is asked again when it outlasted the retries")
    func afterRetries() async throws {
        let stub = StubTransport { throw HTTPError(.timeout, request: $0) }
        let client = HTTPClient.stubbed(stub) {
            $0.validators = [DefaultValidator(retriableErrors: [.timeout: .immediate])]
        }
        let error = await failure { try await client.get("a").retries(1).askAgain(1).result() } as? HTTPError
        #expect(error?.code == .retriesExhausted && error?.isTransient == true)
        #expect(stub.requests.count == 4)
    }

    @Test("a failure that holds for good is neither retried nor asked again, as when the transport is closed")
    func forGood() async throws {
        let stub = StubTransport { throw HTTPError(.connection, request: $0, phase: .notSent).forGood }
        let error = await failure { try await HTTPClient.stubbed(stub).get("a").retries(1).askAgain(1).result() } as? HTTPError
        #expect(error?.code == .connection && error?.isTransient == false)
        #expect(stub.requests.count == 1)
        #expect(HTTPError(.retriesExhausted, underlying: error, phase: .notSent).isTransient == false)
    }
}
