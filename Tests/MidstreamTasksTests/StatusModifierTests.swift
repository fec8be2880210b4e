import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D3 Modifiers that look at the status", .leavesNothing) struct StatusModifierTests {
    private func task(_ status: HTTPStatus, body: String = "body") -> DataTask {
        HTTPClient.stubbed(.json(body, status: status)).get("a")
    }

    @Test func acceptOnlyStatusCodeRejectsWithTheResponse() async throws {
        let error = await failure { try await task(.created).acceptOnlyStatusCode([.ok, .noContent]).result() } as? HTTPError
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .created)
        #expect(error?.response?.body.bytes == Array("body".utf8))
        #expect(error?.request?.url.path == "/a")
    }

    @Test func acceptOnlyStatusCodeRejectsAHandMadeResultWithAResponse() async throws {
        let result = TaskResult(head: ResponseHead(status: .created, headers: ["X": "1"]), payload: Data("body".utf8))
        let error = await failure { try await MockedTask { result }.acceptOnlyStatusCode([.ok]).result() } as? HTTPError
        #expect(error?.response?.status == .created)
        #expect(error?.response?.headers["X"] == "1")
        #expect(error?.response?.data == Data("body".utf8))
    }

    @Test func acceptOnlyStatusCodeLetsThroughWhatTheValidatorsReject() async throws {
        #expect(try await task(.notFound).acceptOnlyStatusCode([.ok, .notFound]).string() == "body")
    }

    @Test func aResponseWhoseBodyIsCutIsNotAccepted() async {
        let stub = StubTransport { request in
            let cut = HTTPError(.connectionLost, phase: .answered)
            return HTTPResponse(status: 422, body: .incoming(next: { throw cut }, close: {}), request: request)
        }
        let task = testClient(transport: stub).get("http://a.example").acceptOnlyStatusCode([200, 422])
        let error = await failure { try await task.data() } as? HTTPError
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 422)
    }

    @Test func aResponseWhoseBodyWasGivenUpIsNotAccepted() async {
        let bench = ArbiterBench()
        let stub = StubTransport { request in
            HTTPResponse(
                status: 503, headers: [.retryAfter: request.headers["Wait"] ?? ""], body: .incoming(ArrivingBody()),
                request: request)
        }
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry(.delayed(.seconds(2)))]) {
            $0.sharesRetryAfter = true
        }
        let task = client.get("/").with { $0.deadline = .seconds(9) }.streamed().acceptOnlyStatusCode([503]).collectData()
        let call = Task { await httpError { try await task.data() } }
        await bench.clock.waitForSleepers(2)
        var other = HTTPRequest("/", headers: ["Wait": "30"])
        other.maxRetries = 0
        _ = await httpError { [other] in try await client.send(other) }
        bench.clock.advance(by: .seconds(2))
        let error = await call.value
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 503)
    }

    @Test func anEmptySetAcceptsEveryStatus() async throws {
        #expect(try await task(.internalServerError).acceptOnlyStatusCode([]).string() == "body")
    }

    @Test func d4ThePresetsAreSuccessAndSuccessAndRedirect() async throws {
        #expect(try await task(299).acceptOnlyStatusCode(.success).string() == "body")
        #expect(try await task(304).acceptOnlyStatusCode(.successAndRedirect).string() == "body")
        for status: HTTPStatus in [199, 300, 304] {
            let error = await failure { try await task(status).acceptOnlyStatusCode(.success).result() } as? HTTPError
            #expect(error?.code == .unacceptableStatus)
        }
        let error = await failure { try await task(400).acceptOnlyStatusCode(.successAndRedirect).result() } as? HTTPError
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func onStatusCodeThrowsForItsCodeAlone() async throws {
        for (status, throwsError) in [(500, true), (501, false), (200, false)] {
            let error = await failure {
                try await task(HTTPStatus(status)).onStatusCode(.internalServerError) { throw Failure() }.result()
            }
            #expect((error is Failure) == throwsError)
        }
    }

    @Test func onStatusCodeTakesRangesAndSets() async throws {
        let log = Log<String>()
        _ = try await task(404)
            .onStatusCode(400..<404) { log.add("half-open") }
            .onStatusCode(400...404) { log.add("closed") }
            .onStatusCode([.notFound, .gone]) { log.add("set") }
            .onStatusCode(.clientError) { log.add("preset") }
            .onStatusCode(500..<600) { log.add("server") }
            .onStatusCode(.badRequest ..< .internalServerError) { log.add("names") }
            .result()
        #expect(log.entries == ["closed", "set", "preset", "names"])
    }

    @Test func onStatusCodeGivesTheResultToTheClosureAndOn() async throws {
        let log = Log<String>()
        let result = try await task(404)
            .onStatusCode(404) { result in
                log.add("\(result.head.status.code) \(String(decoding: result.payload, as: UTF8.self))")
            }
            .onStatusCode(400...404) { result in log.add("\(result.head.status.code)") }
            .onStatusCode(400..<500) { result in log.add("\(result.head.status.code)") }
            .onStatusCode([404]) { result in log.add("\(result.head.status.code)") }
            .result()
        #expect(log.entries == ["404 body", "404", "404", "404"])
        #expect(result.head.status == .notFound)
        #expect(throws: HTTPError.self) { try result.get() }
    }
}

@Suite("D4 A result is of any status, and a rejected one throws when the payload is taken out", .leavesNothing)
struct RejectionTests {
    private let client = HTTPClient.stubbed(.json(#"{"a": 1}"#, status: 401))

    /// A client of which nothing but the waits before retries sleeps on the clock.
    private func client(_ stub: StubTransport, on clock: TestClock) -> HTTPClient {
        .stubbed(stub) {
            $0.clock = clock
            $0.timeout = nil
        }
    }

    @Test func theResultOfARejectedStatusIsThere() async throws {
        let result = try await client.get("a").result()
        #expect(result.head.status == .unauthorized)
        #expect(result.head.headers[.contentType] == "application/json")
        #expect(result.head.url.absoluteString == "https://example.com/a")
        #expect(result.payload == Data(#"{"a": 1}"#.utf8))
        #expect(result.rejection?.code == .unacceptableStatus)
        #expect(result.response?.trace.spans.isEmpty == false)
    }

    @Test func takingThePayloadOutThrows() async throws {
        let task = client.get("a")
        let errors = [
            await failure { try await task.decode([String: Int].self).result() },
            await failure { try await task.keyPath(\.a).result() },
            await failure { try await task.extractPayload().result() },
            await failure { try await task.value([String: Int].self) },
            await failure { try await task.data() },
            await failure { try await task.string() },
            await failure { try await task.response() },
            await failure { try await task.streamed().collectData().extractPayload().result() },
            await failure { try await task.result().get() },
        ]
        for error in errors {
            #expect((error as? HTTPError)?.code == .unacceptableStatus)
            #expect((error as? HTTPError)?.response?.status == 401)
        }
    }

    @Test func exhaustedRetriesOfAStatusAreARejectionToo() async throws {
        let stub = StubTransport.statuses(503, 503)
        let clock = TestClock()
        let task = client(stub, on: clock).get("a").retries(1)
        let running = Task { try await task.result() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let result = try await running.value
        #expect(result.head.status == 503)
        #expect(result.rejection?.code == .retriesExhausted)
        #expect(stub.requests.count == 2)
    }

    @Test func exhaustedRetriesOfABrokenConnectionAreThrownAtOnce() async throws {
        let stub = StubTransport(sequence: [.respond(503), .fail(HTTPError(.connectionLost))])
        let clock = TestClock()
        let running = Task { try await client(stub, on: clock).get("a").retries(1).result() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect((await failure { try await running.value } as? HTTPError)?.code == .retriesExhausted)
    }

    @Test func otherErrorsAreThrownAtOnce() async throws {
        let transportFailure = HTTPClient.stubbed(StubTransport(sequence: [.fail(HTTPError(.connection))]))
        #expect((await failure { try await transportFailure.get("a").result() } as? HTTPError)?.code == .connection)

        struct Own: HTTPValidator {
            func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
                .fail(Failure("own"))
            }
        }
        let error = await failure { try await client.get("a").validators([Own()]).result() }
        #expect(error as? Failure == Failure("own"))
    }

    @Test func theRejectionOfAnotherRequestIsNotTakenForTheOwn() async throws {
        let other = HTTPResponse(status: 400, body: .text("login failed"), request: HTTPRequest("https://login.example.com/"))
        let task = client.get("a").interceptor(
            ClosureRequestInterceptor { _ in throw HTTPError(.unacceptableStatus, response: other) })
        #expect((await failure { try await task.result() } as? HTTPError)?.response?.status == 400)
    }

    @Test func aCancellationIsThrownAtOnce() async throws {
        let clock = TestClock()
        let stub = StubTransport { request in
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(status: .ok, request: request)
        }
        let running = Task { try await HTTPClient.stubbed(stub).get("a").result() }
        await clock.waitForSleepers(1)
        running.cancel()
        #expect(await failure { try await running.value } is CancellationError)
    }

    @Test func withoutValidatorsEveryStatusIsAccepted() async throws {
        #expect(try await client.get("a").validators([]).value([String: Int].self) == ["a": 1])
    }

    @Test func descriptionsShowNoPayload() async throws {
        let result = TaskResult(
            head: ResponseHead(
                status: .ok, headers: ["Set-Cookie": "s3cret"], url: try #require(URL(string: "https://h/?token=s3cret"))),
            payload: Data("s3cret".utf8))
        var dumped = ""
        dump(result, to: &dumped)
        dump(result.head, to: &dumped)
        for text in ["\(result)", "\(result.head)", String(reflecting: result), String(reflecting: result.head), dumped] {
            #expect(!text.contains("s3cret"))
            #expect(text.contains("200 OK"))
        }
    }
}
