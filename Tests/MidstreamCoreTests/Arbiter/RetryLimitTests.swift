import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Limits of retries", .leavesNothing)
struct RetryLimitTests {
    private let bench = ArbiterBench()

    @Test("E3 a call sends at most 1 + maxRetries times", arguments: [0, 1, 2, 7])
    func limit(maxRetries: Int) async {
        let stub = StubTransport(status: 500)
        let error = await httpError {
            try await bench.client(stub, maxRetries: maxRetries, validators: [AlwaysRetry()]).send(HTTPRequest("/"))
        }
        #expect(stub.requests.count == 1 + maxRetries)
        #expect(stub.requests.map(\.attempt) == Array(1...(1 + maxRetries)))
        #expect(Set(stub.requests.map(\.id)).count == 1)
        #expect(error?.code == (maxRetries == 0 ? .unacceptableStatus : .retriesExhausted))
    }

    @Test("E3 the request's maxRetries wins over the client's")
    func limitOfTheRequest() async {
        let stub = StubTransport(status: 500)
        let client = bench.client(stub, maxRetries: 5, validators: [AlwaysRetry()])
        var request = HTTPRequest("/")
        request.maxRetries = 1
        _ = await httpError { try await client.send(request) }
        #expect(stub.requests.count == 2)
        request.maxRetries = -3
        #expect(await httpError { try await client.send(request) }?.code == .unacceptableStatus)
        #expect(stub.requests.count == 3)
    }

    @Test("E3 retriesExhausted carries the last response and the last reason")
    func exhausted() async throws {
        let stub = StubTransport(sequence: [.respond(500), .respond(502, body: .text("last"))])
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry()])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.message.contains("502") == true)
        #expect(error?.response?.status == 502 && error?.response?.body.text == "last")
        #expect((error?.underlying as? HTTPError)?.code == .unacceptableStatus)
        #expect(error?.phase == .answered && error?.trace?.spans.isEmpty == false)
    }

    @Test("E3 after failures without a response the last failure is the reason")
    func exhaustedByFailures() async {
        let client = bench.client(
            StubTransport { _ in throw HTTPError(.connectionLost, "gone", phase: .maybeProcessed) }, maxRetries: 2,
            validators: [AlwaysRetry()])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.response == nil && error?.phase == .maybeProcessed)
        #expect((error?.underlying as? HTTPError)?.code == .connectionLost)
    }

    @Test(
        "E3 an error tells that the server may have acted on the request in an earlier attempt",
        arguments: [
            (first: StubTransport.Reply.fail(HTTPError(.connectionLost)), phase: HTTPError.Phase.maybeProcessed),
            (.respond(.serviceUnavailable), .maybeProcessed), (.fail(HTTPError(.connection, phase: .notSent)), .notSent),
            (.respond(.unauthorized), .notSent),
        ])
    func phaseOfAllAttempts(first: StubTransport.Reply, phase: HTTPError.Phase) async {
        for maxRetries in [1, 2] {
            let refused = StubTransport.Reply.fail(HTTPError(.connection, phase: .notSent))
            let stub = StubTransport(sequence: [first, refused, .fail(HTTPError(.tls, phase: .notSent))])
            let client = bench.client(stub, maxRetries: maxRetries, validators: [AlwaysRetry()])
            let error = await httpError { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == .retriesExhausted && error?.phase == phase && stub.requests.count == 1 + maxRetries)
            // Each attempt tells of itself.
            #expect((error?.underlying as? HTTPError)?.phase == .notSent)
        }
    }

    @Test("E3 a user's error is the underlying one, as it is")
    func exhaustedByUserError() async {
        let client = bench.client(StubTransport { _ in throw Failure("odd") }, maxRetries: 1, validators: [AlwaysRetry()])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.underlying as? Failure == Failure("odd"))
    }

    @Test("E3 where no retry is allowed a transport failure stays what it is")
    func plainFailure() async {
        let error = await httpError {
            try await bench.client(StubTransport { _ in throw HTTPError(.connection) }).send(HTTPRequest("/"))
        }
        #expect(error?.code == .connection)
    }

    @Test("E3 a retry of an acceptable response that isn't allowed is a failed validation")
    func retryOfSuccess() async {
        let client = bench.client(StubTransport.ok, validators: [CallbackValidator { _, _ in .retry(.immediate) }])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .validation && error?.response?.status == .ok)
    }

    @Test("E3 the same request sent again has its full budget")
    func countLivesInTheCall() async {
        let stub = StubTransport(status: 500)
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry()])
        let request = HTTPRequest("/")
        for _ in 1...3 { _ = await httpError { try await client.send(request) } }
        #expect(stub.requests.map(\.attempt) == [1, 2, 3, 1, 2, 3, 1, 2, 3])
        // A request that came back inside an error is as good as new.
        if let failed = stub.requests.last { _ = await httpError { try await client.send(failed) } }
        #expect(stub.requests.map(\.attempt).suffix(3) == [1, 2, 3])
    }

    @Test("E3 an alternate doesn't raise the limit where retries are allowed")
    func alternateCounts() async {
        let stub = StubTransport { request in
            HTTPResponse(status: request.urlText.hasSuffix("/login") ? 200 : request.attempt == 1 ? 503 : 401, request: request)
        }
        let client = bench.client(
            stub, maxRetries: 1,
            validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }, AlwaysRetry()])
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.response?.status == .unauthorized)
        #expect(stub.requests.count == 2)
    }

    @Test("the trace tells for each attempt why it was repeated, and why the last one wasn't")
    func notes() async throws {
        let stub = StubTransport(sequence: [
            .respond(503), .fail(HTTPError(.connectionLost, "gone")), .respond(500),
        ])
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry(.delayed(.seconds(2)))])
        let (_, result) = await bench.waits(2, of: client)
        let notes = result.httpError?.trace?.arbiterNotes ?? []
        #expect(notes.count == 3)
        #expect(notes.first?.contains("attempt 1: 503") == true && notes.first?.contains("again in 2.0 seconds") == true)
        #expect(notes.dropFirst().first?.contains("attempt 2: connectionLost: gone; again") == true)
        #expect(notes.last?.contains("attempt 3: 500") == true && notes.last?.contains("not again: no retries are left") == true)
    }
}
