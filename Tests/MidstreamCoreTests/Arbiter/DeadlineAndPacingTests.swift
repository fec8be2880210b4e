import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. The deadline of a call", .leavesNothing)
struct CallDeadlineTests {
    private let bench = ArbiterBench()

    @Test("a delay that would pass the deadline ends the call at once with the last outcome", arguments: [5, 6])
    func delayPastDeadline(delay: Int) async {
        let stub = StubTransport(status: 500, body: .text("last"))
        let client = bench.client(stub, maxRetries: 3, validators: [AlwaysRetry(.delayed(.seconds(delay)))]) {
            $0.deadline = .seconds(5)
        }
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.body.text == "last")
        #expect(error?.trace?.arbiterNotes.last?.contains("would pass the deadline") == true)
        #expect(stub.requests.count == 1 && bench.clock.now.offset == .zero)
    }

    @Test("a failure without a response is a last outcome, too")
    func failure() async {
        let client = bench.client(StubTransport { _ in throw HTTPError(.connectionLost) }, maxRetries: 3) {
            $0.deadline = .milliseconds(40)
        }
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .connectionLost)
    }

    @Test("waits count: the call ends when the next one wouldn't fit any more")
    func waitsCount() async {
        let stub = StubTransport(status: 500)
        let client = bench.client(stub, maxRetries: 9, validators: [AlwaysRetry(.delayed(.seconds(2)))])
        var request = HTTPRequest("/")
        request.deadline = .seconds(5)
        let call = Task { [request] in await httpError { try await client.send(request) } }
        for _ in 1...2 {
            await bench.clock.waitForSleepers(2)
            bench.clock.advance(by: .seconds(2))
        }
        let error = await call.value
        #expect(error?.code == .unacceptableStatus && stub.requests.count == 3)
        #expect(bench.clock.now.offset == .seconds(4))
    }

    @Test("a later deadline that is set further in makes no room for a wait")
    func laterDeadline() async {
        let stub = StubTransport(status: 500, body: .text("last"))
        let client = bench.client(stub, maxRetries: 3, validators: [AlwaysRetry(.delayed(.seconds(6)))]) {
            $0.deadline = .seconds(5)
        } interceptors: {
            ClosureRequestInterceptor(stage: .attempt) { $0.deadline = .seconds(60) }
        }
        let (delays, result) = await bench.waits(0, of: client)
        #expect(delays.isEmpty && result.httpError?.code == .unacceptableStatus && stub.requests.count == 1)
    }

    @Test("Retry-After past the deadline ends the call at once")
    func retryAfter() async {
        let stub = StubTransport(status: 503, headers: [.retryAfter: "30"])
        let client = bench.client(stub, maxRetries: 3) { $0.deadline = .seconds(20) }
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.response?.status == 503)
        #expect(stub.requests.count == 1)
    }

    @Test("the time that an alternate takes counts")
    func alternate() async {
        let clock = bench.clock
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else { return HTTPResponse(status: 401, request: request) }
            try await clock.sleep(for: .seconds(4))
            return HTTPResponse(status: .ok, request: request)
        }
        let client = bench.client(
            stub,
            validators: [
                CallbackValidator { response, _ in
                    response.status == 401 ? .retry(.after(HTTPRequest("/login"), delay: .seconds(2))) : .next
                }
            ]
        ) { $0.deadline = .seconds(5) }
        let call = Task { await httpError { try await client.send(HTTPRequest("/")) } }
        // The deadlines of the call and of the login, and the login's own time.
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(4))
        let error = await call.value
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(stub.requests.count == 2)
    }
}

@Suite("E. Pacing", .leavesNothing)
struct PacingTests {
    private let bench = ArbiterBench()
    private let request = HTTPRequest("/")

    /// Answers the first request with this, and the others with 200.
    private func stub(_ status: HTTPStatus = 429, retryAfter: String = "5") -> StubTransport {
        let isFirst = Locked(true)
        return StubTransport { request in
            let isFirst = isFirst.lower()
            return HTTPResponse(
                status: isFirst ? status : 200, headers: isFirst ? [.retryAfter: retryAfter] : [:], request: request)
        }
    }

    @Test("after a Retry-After the client's other calls wait too, whether or not that one is retried", arguments: [429, 503])
    func waits(status: Int) async throws {
        let client = bench.client(stub(HTTPStatus(status))) { $0.sharesRetryAfter = true }
        _ = await httpError { try await client.send(request) }
        let (delays, result) = await bench.waits(1, of: client)
        #expect(delays == [.seconds(5)])
        #expect(try result.get().arbiterNotes.contains { $0.contains("waits 5.0 seconds") })
        #expect(try await client.send(request).status == .ok)
    }

    @Test("the call that was answered so waits once")
    func sameCall() async throws {
        let client = bench.client(stub(), maxRetries: 1) { $0.sharesRetryAfter = true }
        let (delays, result) = await bench.waits(1, of: client)
        #expect(delays == [.seconds(5)])
        #expect(try result.get().status == .ok)
    }

    @Test("it is off by default, only for that origin, and only with Retry-After on 429 and 503")
    func others() async throws {
        let off = bench.client(stub())
        _ = await httpError { try await off.send(request) }
        #expect(try await off.send(request).status == .ok)

        let otherOrigin = bench.client(stub()) { $0.sharesRetryAfter = true }
        _ = await httpError { try await otherOrigin.send(request) }
        #expect(try await otherOrigin.send(HTTPRequest("https://h:444/")).status == .ok)
        #expect(try await otherOrigin.send(HTTPRequest("http://h/")).status == .ok)

        for stub in [stub(500), stub(429, retryAfter: "soon")] {
            let client = bench.client(stub) { $0.sharesRetryAfter = true }
            _ = await httpError { try await client.send(request) }
            #expect(try await client.send(request).status == .ok)
        }
    }

    @Test("the origin that answered is left alone, not the one that redirected there; a redirect doesn't wait")
    func redirected() async throws {
        let stub = StubTransport { request in
            switch request.urlText {
            case "https://h/": HTTPResponse(status: .found, headers: [.location: "https://b/busy"], request: request)
            case "https://b/busy": HTTPResponse(status: 503, headers: [.retryAfter: "5"], request: request)
            default: HTTPResponse(status: .ok, request: request)
            }
        }
        let client = bench.client(stub) { $0.sharesRetryAfter = true }
        _ = await httpError { try await client.send(request) }
        #expect(try await client.send(HTTPRequest("https://h/fine")).status == .ok)
        let (delays, result) = await bench.waits(0, of: client)
        #expect(delays.isEmpty && result.httpError?.response?.status == 503)
        #expect(await bench.waits(1, of: client, HTTPRequest("https://b/fine")).delays == [.seconds(5)])
    }

    @Test("a call that may not wait so long ends at once, unsent")
    func deadline() async {
        let stub = stub()
        let client = bench.client(stub) { $0.sharesRetryAfter = true }
        _ = await httpError { try await client.send(request) }
        var impatient = request
        impatient.deadline = .seconds(5)
        let error = await httpError { [impatient] in try await client.send(impatient) }
        #expect(error?.code == .deadlineExceeded && error?.phase == .notSent && stub.requests.count == 1)
    }

    /// Answers at the time, in seconds, that the request names, with the status that it names.
    private func timed() -> StubTransport {
        let clock = bench.clock
        return StubTransport { request in
            if request.attempt == 1, let time = request.headers["At"].flatMap({ Int($0) }) {
                try await clock.sleep(until: .init(offset: .seconds(time)))
            }
            let status = request.headers["Status"].flatMap { Int($0) } ?? 200
            return HTTPResponse(
                status: HTTPStatus(status), headers: [.retryAfter: request.headers["Wait"] ?? ""], request: request)
        }
    }

    @Test("a wait grows when the server asks for more meanwhile")
    func extended() async throws {
        let client = bench.client(timed()) { $0.sharesRetryAfter = true }
        async let slow = httpError {
            try await client.send(HTTPRequest("/", headers: ["At": "1", "Status": "429", "Wait": "20"]))
        }
        await bench.clock.waitForSleepers(1)
        _ = await httpError { try await client.send(HTTPRequest("/", headers: ["Status": "429", "Wait": "5"])) }
        let waiting = Task { try await client.send(request) }
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .seconds(1))
        _ = await slow
        bench.clock.advance(by: .seconds(4))
        await bench.clock.waitForSleepers(1)
        #expect(bench.clock.nextDeadline?.offset == .seconds(21))
        bench.clock.advance(by: .seconds(16))
        #expect(try await waiting.value.status == .ok)
    }

    @Test("a shorter wait that is asked for doesn't end a longer one")
    func shorter() async {
        let client = bench.client(timed()) { $0.sharesRetryAfter = true }
        async let slow = httpError {
            try await client.send(HTTPRequest("/", headers: ["At": "1", "Status": "429", "Wait": "5"]))
        }
        await bench.clock.waitForSleepers(1)
        _ = await httpError { try await client.send(HTTPRequest("/", headers: ["Status": "429", "Wait": "20"])) }
        bench.clock.advance(by: .seconds(1))
        _ = await slow
        #expect(await bench.waits(1, of: client).delays == [.seconds(19)])
    }

    @Test("a retry that would have to wait past the deadline ends with the last outcome")
    func lastOutcome() async {
        let client = bench.client(timed(), maxRetries: 1, validators: [AlwaysRetry(.delayed(.seconds(2)))]) {
            $0.sharesRetryAfter = true
        }
        var request = HTTPRequest("/", headers: ["Status": "500"])
        request.deadline = .seconds(9)
        var other = HTTPRequest("/", headers: ["At": "1", "Status": "503", "Wait": "30"])
        other.maxRetries = 0
        let call = Task { [request] in await httpError { try await client.send(request) } }
        let otherCall = Task { [other] in await httpError { try await client.send(other) } }
        await bench.clock.waitForSleepers(3)
        bench.clock.advance(by: .seconds(1))
        _ = await otherCall.value
        bench.clock.advance(by: .seconds(1))
        let error = await call.value
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 500)
    }

    @Test("of a streamed call it is told why the response has no body any more")
    func streamedLastOutcome() async {
        let stub = StubTransport { request in
            HTTPResponse(
                status: 503, headers: [.retryAfter: request.headers["Wait"] ?? ""], body: .incoming(ArrivingBody()),
                request: request)
        }
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry(.delayed(.seconds(2)))]) {
            $0.sharesRetryAfter = true
        }
        var request = HTTPRequest("/")
        request.deadline = .seconds(9)
        var other = HTTPRequest("/", headers: ["Wait": "30"])
        other.maxRetries = 0
        let call = Task { [request] in await httpError { try await client.stream(request) } }
        await bench.clock.waitForSleepers(2)
        _ = await httpError { [other] in try await client.send(other) }
        bench.clock.advance(by: .seconds(2))
        let error = await call.value
        #expect(error?.code == .unacceptableStatus && error?.response?.body.bytes == [])
        #expect(error?.message.contains("The response's body was given up for another attempt.") == true)
        #expect(stub.requests.count == 2)
    }

    @Test("few origins are remembered, however many there are")
    func manyOrigins() async throws {
        let stub = StubTransport(status: 429, headers: [.retryAfter: "5"])
        let client = bench.client(stub) { $0.sharesRetryAfter = true }
        for number in 0...1_000 { _ = await httpError { try await client.send(HTTPRequest("https://h\(number)/")) } }
        // At least one of them has been forgotten, and so is asked again at once; the others would have to wait too long.
        for number in 0...1_000 {
            var request = HTTPRequest("https://h\(number)/")
            request.deadline = .seconds(1)
            _ = await httpError { [request] in try await client.send(request) }
        }
        #expect(stub.requests.count > 1_001 && stub.requests.count < 2_002)
    }

    @Test("origins whose time is over are forgotten before others")
    func endedOrigins() async throws {
        let stub = timed()
        let client = bench.client(stub) { $0.sharesRetryAfter = true }
        func ask(_ host: String, wait: Int) async {
            var request = HTTPRequest("https://\(host)/", headers: ["Status": "429", "Wait": "\(wait)"])
            request.deadline = .seconds(1)
            _ = await httpError { [request] in try await client.send(request) }
        }
        for number in 0..<500 { await ask("short\(number)", wait: 5) }
        for number in 0..<500 { await ask("long\(number)", wait: 20) }
        bench.clock.advance(by: .seconds(5))
        for number in 0..<500 { await ask("new\(number)", wait: 30) }
        let sent = stub.requests.count
        #expect(sent == 1_500)
        for number in 0..<500 {
            await ask("long\(number)", wait: 20)
            await ask("new\(number)", wait: 30)
        }
        #expect(stub.requests.count == sent, "Each still has to wait too long.")
    }
}
