import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Validators and their verdicts", .leavesNothing)
struct VerdictTests {
    private let bench = ArbiterBench()
    private let request = HTTPRequest("/")

    private func saying(_ steps: Steps, _ name: String, _ verdict: @escaping @Sendable (HTTPResponse) throws -> HTTPVerdict)
        -> CallbackValidator
    {
        CallbackValidator { response, _ in
            steps.note("\(name) \(response.status.code)")
            return try verdict(response)
        }
    }

    @Test("E1 response interceptors run once per attempt, and before the validators")
    func responseInterceptors() async throws {
        let steps = Steps()
        let stub = StubTransport(sequence: [.respond(503), .respond(200, headers: ["A": "0"])])
        let appending = ["1", "2"].map { name in
            ClosureResponseInterceptor { response in
                steps.note("interceptor \(name)")
                response.headers["A"] = (response.headers["A"] ?? "") + name
            }
        }
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry(), saying(steps, "validator") { _ in .next }]) {
            _ in
        } interceptors: {
            ChainedResponseInterceptor.chain(inOrder: appending)
        }
        let response = try await client.send(request)
        #expect(response.headers["A"] == "012")
        #expect(
            steps.all == [
                "interceptor 1", "interceptor 2", "interceptor 1", "interceptor 2", "validator 200",
            ])
    }

    @Test("E1 what a response interceptor throws reaches the caller as it is, and its response is closed")
    func throwingInterceptor() async throws {
        let body = ArrivingBody()
        let stub = StubTransport { HTTPResponse(status: .ok, body: .incoming(body), request: $0) }
        let client = bench.client(stub) { _ in
        } interceptors: {
            ClosureResponseInterceptor { _ in throw Failure("interceptor") }
        }
        await #expect(throws: Failure("interceptor")) { try await client.stream(request) }
        #expect(body.closings > 0)
    }

    @Test("E2 next asks the next validator, and the response is delivered when there is no objection")
    func next() async throws {
        let steps = Steps()
        let client = bench.client(StubTransport.ok, validators: (1...3).map { saying(steps, "\($0)") { _ in .next } })
        #expect(try await client.send(request).status == .ok)
        #expect(steps.all == ["1 200", "2 200", "3 200"])
    }

    @Test("E2 after nextWith the later validators see the new response, and it is what is delivered")
    func nextWith() async throws {
        let steps = Steps()
        let client = bench.client(
            StubTransport(status: 404),
            validators: [
                saying(steps, "1") { .nextWith(HTTPResponse(status: 201, body: .text("new"), request: $0.request)) },
                saying(steps, "2") { _ in .next }, DefaultValidator(),
            ])
        let response = try await client.send(request)
        #expect(response.status == 201 && response.body.text == "new")
        #expect(steps.all == ["1 404", "2 201"])
    }

    @Test("E2 after nextWith the later validators see the new response's body, though it was no bytes")
    func nextWithStream() async throws {
        let steps = Steps()
        let client = bench.client(
            StubTransport(status: .ok, body: "new"),
            validators: [
                CallbackValidator { response, _ in
                    var opened = response
                    opened.body = response.body.mapChunks { chunk in chunk.map { $0 & 0xDF } }
                    return .nextWith(opened)
                },
                CallbackValidator { response, _ in
                    steps.note(response.body.text)
                    return .next
                },
            ])
        #expect(try await client.send(request).body.text == "NEW")
        #expect(steps.all == ["NEW"])
    }

    @Test("E2 an attempt that has timed out may be answered with a stream")
    func nextWithStreamAfterTimeout() async throws {
        struct Fallback: HTTPValidator {
            func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { .next }
            func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
                .nextWith(HTTPResponse(status: 203, body: .once(chunks("late")), request: request))
            }
        }
        let steps = Steps()
        let silent = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        let client = bench.client(silent, validators: [Fallback(), saying(steps, "2") { .fail(Failure($0.body.text)) }]) {
            $0.timeout = .seconds(5)
        }
        let call = Task { try await client.send(request) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(5))
        await #expect(throws: Failure("late")) { try await call.value }
        #expect(steps.all == ["2 203"])
    }

    @Test("E2 after nextWith a later validator may still reject the new response")
    func nextWithRejected() async {
        let client = bench.client(
            StubTransport.ok,
            validators: [
                CallbackValidator { response, request in .nextWith(HTTPResponse(status: 404, request: request)) },
                DefaultValidator(),
            ])
        let error = await httpError { try await client.send(request) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
    }

    @Test("E2 a validator may answer a failure with a response, which the later ones judge")
    func fallback() async throws {
        struct Fallback: HTTPValidator {
            func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { .next }
            func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
                .nextWith(HTTPResponse(status: 203, request: request))
            }
        }
        let steps = Steps()
        let client = bench.client(
            StubTransport(sequence: [.fail(HTTPError(.connection))]),
            validators: [Fallback(), saying(steps, "2") { _ in .next }])
        #expect(try await client.send(request).status == 203)
        #expect(steps.all == ["2 203"])
    }

    @Test("E2 fail ends the call with the error as given; later validators aren't asked")
    func fail() async {
        let steps = Steps()
        let client = bench.client(
            StubTransport.ok,
            validators: [saying(steps, "1") { _ in .fail(Failure("mine")) }, saying(steps, "2") { _ in .next }])
        await #expect(throws: Failure("mine")) { try await client.send(request) }
        #expect(steps.all == ["1 200"])
    }

    @Test("E2 a validator that throws fails the call with what it throws")
    func throwing() async {
        let steps = Steps()
        let client = bench.client(
            StubTransport.ok,
            validators: [saying(steps, "1") { _ in throw Failure("thrown") }, saying(steps, "2") { _ in .next }])
        await #expect(throws: Failure("thrown")) { try await client.send(request) }
        #expect(steps.all == ["1 200"])
    }

    @Test("E2 the first verdict that is neither next nor nextWith decides")
    func firstDecides() async throws {
        let steps = Steps()
        let stub = StubTransport(sequence: [.respond(500), .respond(200)])
        let client = bench.client(
            stub, maxRetries: 1,
            validators: [
                saying(steps, "1") { _ in .next }, saying(steps, "2") { $0.status == 500 ? .retry(.immediate) : .next },
                saying(steps, "3") { $0.status == 500 ? .fail(Failure()) : .next },
            ])
        #expect(try await client.send(request).status == .ok)
        #expect(steps.all == ["1 500", "2 500", "1 200", "2 200", "3 200"])
    }

    @Test("E2 a validator hears of a failure, not of a cancellation")
    func failures() async {
        struct Listener: HTTPValidator {
            let steps: Steps
            func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict { .next }
            func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
                steps.note("\(error)")
                return .next
            }
        }
        let steps = Steps()
        for error in [Failure("first") as any Error, CancellationError()] {
            let client = bench.client(StubTransport { _ in throw error }, validators: [Listener(steps: steps)])
            await #expect(throws: (any Error).self) { try await client.send(request) }
        }
        #expect(steps.all.count == 1)
    }

    @Test("E2 a validator may be asynchronous, and its cancellation is the call's")
    func cancellation() async throws {
        let stub = StubTransport.ok
        let clock = bench.clock
        let client = bench.client(
            stub, maxRetries: 3,
            validators: [
                CallbackValidator { _, _ in
                    do {
                        try await clock.sleep(for: .seconds(1))
                    } catch {
                        throw Failure("wrapped")
                    }
                    return .next
                }
            ])
        let call = Task { try await client.send(request) }
        await clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(stub.requests.count == 1)
    }

    @Test("a request's validators take the place of the client's")
    func validatorsOfTheRequest() async throws {
        var request = request
        request.validators = []
        #expect(try await bench.client(StubTransport(status: 500)).send(request).status == 500)
        request.validators = [CallbackValidator { _, _ in .fail(Failure("of the request")) }]
        await #expect(throws: Failure("of the request")) { try await bench.client(StubTransport.ok).send(request) }
    }
}
