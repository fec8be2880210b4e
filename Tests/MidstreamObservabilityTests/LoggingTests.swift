import Interception
import MidstreamCore
import MidstreamObservability
import MidstreamTesting
import TestSupport
import Testing

@Suite("A line is written for each call", .leavesNothing, .timeLimit(.minutes(10)))
struct LoggingTests {
    private let lines = Locked<[String]>([])
    private let clock = TestClock()

    private func client(
        _ stub: StubTransport, stage: InterceptorStage = .call, configuration: HTTPClient.Configuration = .init()
    ) -> HTTPClient {
        var configuration = configuration
        configuration.clock = clock
        configuration.timeout = nil
        return testClient(baseURL: "https://h", configuration: configuration, transport: stub) { [lines] in
            .logging(at: stage) { line in lines.withLock { $0.append(line) } }
        }
    }

    private var written: [String] { lines.withLock { $0 } }

    @Test func withStatusAndTime() async throws {
        let clock = clock
        let stub = StubTransport {
            clock.advance(by: .microseconds(34_240))
            return HTTPResponse(status: .ok, request: $0)
        }
        _ = try await client(stub).send(HTTPRequest("users?api_key=S3CR3T", headers: [.authorization: "S3CR3T"]))
        #expect(written.count == 1)
        #expect(written[0].hasPrefix("GET https://h/users?api_key=") && written[0].hasSuffix(" → 200 OK, 34.2 ms"))
        #expect(!written[0].contains("S3CR3T"))
    }

    @Test func withoutWhatTheClientWithholds() async throws {
        let configuration = HTTPClient.Configuration(redaction: Redaction(queryItems: ["visit"]))
        let stub = StubTransport { throw HTTPError(.connection, "There is no way to \($0.redactedURL).", request: $0) }
        _ = try? await client(stub, configuration: configuration).send(HTTPRequest("users?visit=S3CR3T&page=7"))
        #expect(written.count == 1)
        #expect(written.first?.ranges(of: "page=7").count == 2)
        #expect(written.first?.contains("S3CR3T") == false)
    }

    @Test func attemptsAreCountedAndExchangesAreLinesOfTheirOwn() async throws {
        let configuration = HTTPClient.Configuration(
            maxRetries: 1, validators: [DefaultValidator(retriableStatus: [503: .immediate])])
        let replies: [StubTransport.Reply] = [.respond(503), .respond(.ok)]
        _ = try await client(StubTransport(sequence: replies), configuration: configuration).send(HTTPRequest("x"))
        _ = try await client(StubTransport(sequence: replies), stage: .exchange, configuration: configuration)
            .send(HTTPRequest("y"))
        #expect(
            written == [
                "GET https://h/x → 200 OK, 0.0 ms, 2 attempts", "GET https://h/y → 503 Service Unavailable, 0.0 ms",
                "GET https://h/y → 200 OK, 0.0 ms",
            ])
    }

    @Test func failuresAreNamed() async throws {
        _ = try? await client(StubTransport(status: .notFound)).send(HTTPRequest("x"))
        #expect(written == ["GET https://h/x ✗ unacceptableStatus: The server answered 404 Not Found., 0.0 ms"])
    }

    @Test("A deadline isn't taken for a cancellation", arguments: [InterceptorStage.call, .exchange])
    func deadline(stage: InterceptorStage) async throws {
        let silent = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: .ok, request: request)
        }
        let client = client(silent, stage: stage, configuration: .init(deadline: .seconds(2)))
        async let end = httpError { try await client.send(HTTPRequest("x")) }
        await eventually { silent.requests.count == 1 }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await end?.code == .deadlineExceeded)
        #expect(written.count == 1 && written[0].contains("deadline") && written[0].hasSuffix("2000.0 ms"))
        let call = Task { try await client.send(HTTPRequest("x")) }
        await eventually { silent.requests.count == 2 }
        await clock.waitForSleepers(1)
        call.cancel()
        _ = await call.result
        #expect(written.last == "GET https://h/x ✗ cancelled, 0.0 ms")
    }
}
