import Interception
import MidstreamCore
import MidstreamResilience
import TestSupport
import Testing

@testable import MidstreamTesting

@Suite("Chaos", .leavesNothing, .timeLimit(.minutes(10)))
struct ChaosTests {
    private let bench = ArbiterBench()
    private let content = (0..<1_000).map { UInt8($0 % 251) }

    private var stub: StubTransport {
        StubTransport { [content] in HTTPResponse(status: 200, body: .bytes(content), request: $0) }
    }

    private func client(_ rules: [Chaos.Rule], seed: UInt64 = 1, on stub: StubTransport? = nil) -> HTTPClient {
        bench.client(stub ?? self.stub, validators: [], interceptors: { Chaos(seed: seed, rules: rules, isEnabled: true) })
    }

    @Test("it does nothing until code enables it")
    func off() async throws {
        let chaos = Chaos(rules: [.init(.error(.connection))])
        let client = bench.client(stub, interceptors: { chaos })
        #expect(try await client.send(HTTPRequest("/")).status == 200)
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("· off"))
        chaos.isEnabled = true
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .connection && error?.phase == .notSent)
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("would inject: connection (100 %)"))
        chaos.isEnabled = false
        #expect(try await client.send(HTTPRequest("/")).status == 200)
    }

    @Test("times that are drawn while others are under way change no lots")
    func overlapping() async throws {
        func struck(overlapping: Bool) async throws -> [Bool] {
            let gate = Gate()
            let stub = StubTransport { request in
                if overlapping { await gate.wait() }
                return HTTPResponse(status: 200, request: request)
            }
            // Drawn, and over at once.
            let client = client([.init(.delay(.exponential(mean: .zero)), share: 0.5)], on: stub)
            var calls: [Task<Bool, any Error>] = []
            for number in 1...200 {
                let call = Task {
                    try await !client.send(HTTPRequest("/")).trace.events(named: "chaos.injected").isEmpty
                }
                calls.append(call)
                if overlapping { await gate.reached(by: number) } else { _ = try await call.value }
            }
            gate.open()
            var results: [Bool] = []
            for call in calls { results.append(try await call.value) }
            return results
        }
        let apart = try await struck(overlapping: false)
        #expect(try await struck(overlapping: true) == apart)
        #expect(50...150 ~= apart.filter { $0 }.count)
    }

    @Test("the trace tells what was injected")
    func trace() async throws {
        let stub = stub
        let response = try await client([.init(.status(503))], on: stub).send(HTTPRequest("/"))
        #expect(response.status == 503 && stub.requests.isEmpty)
        #expect(response.trace.events(named: "chaos.injected").map(\.attributes) == [["fault": "status 503"]])
        #expect("\(response.trace)".contains("injected: status 503"))
    }

    @Test(
        "each fault is what a client sees of one on a wire",
        arguments: [
            (Fault.disconnect(.beforeHead), HTTPError.Code.connectionLost, HTTPError.Phase.maybeProcessed, 1),
            (.reset(.insideHead), .connectionLost, .maybeProcessed, 1),
            (.disconnect(.insideBody(afterBytes: 3)), .connectionLost, .answered, 1),
            (.reset(.insideBody(afterBytes: 5_000)), .connectionLost, .answered, 1),
            (.garbage([1]), .protocolViolation, .maybeProcessed, 1),
            (.oversizeHead(bytes: 9), .protocolViolation, .maybeProcessed, 1),
            (.wrongContentLength(declared: 2_000), .connectionLost, .answered, 1),
            (.truncatedChunk, .connectionLost, .answered, 1),
            (.error(.timeout), .timeout, .maybeProcessed, 0), (.error(.nameResolution), .nameResolution, .notSent, 0),
        ])
    func faults(fault: Fault, code: HTTPError.Code, phase: HTTPError.Phase, sent: Int) async throws {
        let stub = stub
        let client = client([.init(fault)], on: stub)
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == code && error?.phase == phase, "\(fault)")
        #expect(stub.requests.count == sent)
        #expect(error?.trace?.events(named: "chaos.injected").count == 1)
    }

    @Test("faults after the response change nothing, and one that says a shorter length cuts the body")
    func harmless() async throws {
        for fault in [Fault.disconnect(.afterResponse), .reset(.afterResponse), .stall(.afterResponse)] {
            #expect(try await client([.init(fault)]).send(HTTPRequest("/")).body.bytes == content)
        }
        let short = try await client([.init(.wrongContentLength(declared: 7))]).send(HTTPRequest("/"))
        #expect(short.body.bytes == Array(content.prefix(7)))
    }

    @Test(
        "where there can be no body, none breaks off, as on a wire",
        arguments: [(.head, 200), (.get, 204), (.get, 304)] as [(HTTPMethod, HTTPStatus)])
    func bodiless(method: HTTPMethod, status: HTTPStatus) async throws {
        let faults: [Fault] = [
            .disconnect(.insideBody(afterBytes: 0)), .reset(.insideBody(afterBytes: 3)), .stall(.insideBody(afterBytes: 0)),
            .wrongContentLength(declared: 5), .truncatedChunk,
        ]
        for fault in faults {
            let client = client([.init(fault)], on: StubTransport(status: status))
            let response = try await client.stream(HTTPRequest(method, "/"))
            #expect(response.status == status && response.body.bytes == [], "\(fault)")
        }
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: status, fault: faults[0]))
        let onWire = testClient(baseURL: server.url("/"), configuration: .init(validators: []))
        #expect(try await onWire.send(HTTPRequest(method, "x")).status == status)
    }

    @Test("what is streamed breaks off while it is read")
    func streamed() async throws {
        let response = try await client([.init(.disconnect(.insideBody(afterBytes: 400)))]).stream(HTTPRequest("/"))
        var bytes: [UInt8] = []
        let error = await httpError { for try await chunk in response.body { bytes += chunk } }
        #expect(error?.code == .connectionLost && bytes == Array(content.prefix(400)))
    }

    @Test("silence lasts until the attempt's time is over", arguments: [Fault.Place.beforeHead, .insideBody(afterBytes: 3)])
    func stall(place: Fault.Place) async throws {
        let client = client([.init(.stall(place))])
        let call = Task {
            var request = HTTPRequest("/")
            request.timeout = .seconds(3)
            return try await client.send(request)
        }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(3))
        #expect(await call.result.httpError?.code == .timeout)
    }

    @Test("a silent body that is closed, or whose reader is cancelled, ends", arguments: [true, false])
    func closing(isClosed: Bool) async throws {
        let response = try await client([.init(.stall(.insideBody(afterBytes: 3)))]).stream(HTTPRequest("/"))
        let steps = Steps()
        let reader = Task {
            for try await chunk in response.body { steps.note("\(chunk.count)") }
        }
        await eventually { steps.all == ["3"] }
        if isClosed { response.body.close() } else { reader.cancel() }
        let error = await #expect(throws: (any Error).self) { try await reader.value }
        #expect(isClosed ? (error as? HTTPError)?.code == .connectionLost : error is CancellationError)
    }

    @Test("delays and slow bodies take their time on the client's clock")
    func slow() async throws {
        let bench = bench
        let cases: [(Fault, [Duration])] = [
            (.delay(.constant(.seconds(2))), [.seconds(2)]),
            (.throttle(bytesPerSecond: 5_000), [.milliseconds(100), .milliseconds(100)]),
            (.throttle(bytesPerSecond: 0), Array(repeating: .seconds(1), count: 1_000)),
            (.dribble(delay: .milliseconds(3)), Array(repeating: .milliseconds(3), count: 1_000)),
        ]
        for (fault, expected) in cases {
            let (delays, result) = await bench.waits(expected.count, of: client([.init(fault)]))
            #expect(delays == expected, "\(fault)")
            #expect(try result.get().body.bytes == content)
        }
    }

    @Test("a reader that is cancelled in the pause of a slow body has had nothing of it")
    func cancelledInAPause() async throws {
        let clock = TestClock()
        let body = HTTPBody.bytes([1, 2]).faulty(length: 2, slices: 1, pause: .seconds(1), then: .end, on: clock)
        let chunks = ChunkReader(body)
        let first = Task { try await chunks.next() }
        await clock.waitForSleepers(1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await chunks.next() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await second.value == [1])
    }

    @Test("a share of what matches, the same for the same seed; the first rule that strikes counts")
    func shares() async throws {
        func pattern(_ seed: UInt64) async throws -> [Int] {
            let client = client(
                [
                    .init(.status(500), share: 0.3) { $0.urlText.hasSuffix("a") },
                    .init(.status(501)) { $0.urlText.hasSuffix("b") },
                    .init(.status(502)) { $0.urlText.hasSuffix("b") },
                ], seed: seed)
            var statuses: [Int] = []
            for number in 0..<400 {
                statuses.append(try await client.send(HTTPRequest(number % 10 == 0 ? "/b" : "/a")).status.code)
            }
            return statuses
        }
        let first = try await pattern(1)
        #expect(try await pattern(1) == first)
        #expect(try await pattern(2) != first)
        let struck = first.count { $0 == 500 }
        #expect((80...140).contains(struck))
        #expect(first.count { $0 == 501 } == 40 && !first.contains(502))
    }

    @Test("a share that is no number is none")
    func noNumber() async throws {
        let client = client([.init(.error(.connection), share: .nan)])
        #expect(try await client.send(HTTPRequest("/")).status == 200)
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("would inject: connection (0 %)"))
    }

    @Test("limits, breakers and retries take its faults for the server's, and all permits come back")
    func resilience() async throws {
        let limit = ConcurrencyLimit(.adaptive(start: 20))
        let breaker = CircuitBreaker(minimum: 5)
        let client = bench.client(
            stub, maxRetries: 0,
            interceptors: {
                Chaos(rules: [.init(.disconnect(.insideBody(afterBytes: 1)))], isEnabled: true)
                limit
                breaker
            })
        for _ in 0..<5 { #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .connectionLost) }
        #expect(breaker.state(of: "https://h", on: bench.clock) != .closed)
        let state = try #require(limit.states["https://h"])
        #expect(state.inFlight == 0 && state.limit < 20)
        #expect("\(client.pipeline)".contains("ConcurrencyLimit\n  Chaos\ntransport"))
    }

    @Test("over sockets a good answer goes wrong, and its connection is released")
    func sockets() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { [content] _ in .init(body: .bytes(content)) }
        let client = testClient(baseURL: server.url("/")) {
            Chaos(rules: [.init(.reset(.insideBody(afterBytes: 10)), share: 0.5)], isEnabled: true)
        }
        var lost = 0
        for _ in 0..<20 {
            do {
                #expect(try await client.stream(HTTPRequest("x")).body.collect() == content)
            } catch let error as HTTPError where error.code == .connectionLost {
                lost += 1
            }
        }
        #expect((1..<20).contains(lost) && server.requestCount == 20)
    }
}
