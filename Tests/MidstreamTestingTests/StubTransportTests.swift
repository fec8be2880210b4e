import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing) struct StubTransportTests {
    struct Unavailable: Error {}

    @Test func answersFromTheClosureAndRecords() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: 201, body: .text("to \(request.urlText)"), request: request)
        }
        let copy = stub
        let request = HTTPRequest(.post, "http://example.com/a")
        let response = try await copy.send(request)
        #expect(response.status == .created)
        #expect(String(decoding: response.data, as: UTF8.self) == "to http://example.com/a")
        #expect(stub.requests.map(\.id) == [request.id])
    }

    @Test func givesEveryRequestTheSameAnswer() async throws {
        let stub = StubTransport(status: .ok, headers: ["X-A": "1"], body: .text("hello"))
        for _ in 0..<2 {
            let request = HTTPRequest("http://example.com/")
            let response = try await stub.send(request)
            #expect(response.headers["x-a"] == "1")
            #expect(response.request.id == request.id)
            #expect(try await response.body.collect() == Array("hello".utf8))
        }
    }

    @Test func answersInSequenceAndSaysWhenItIsUsedUp() async throws {
        let stub = StubTransport(sequence: [.respond(503), .fail(Unavailable()), .respond(.ok, body: .text("x"))])
        let request = HTTPRequest("http://example.com/")
        #expect(try await stub.send(request).status == 503)
        await #expect(throws: Unavailable.self) { try await stub.send(request) }
        #expect(try await stub.send(request).status == .ok)
        let error = await #expect(throws: HTTPError.self) { try await stub.send(request) }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "The stub has 3 replies, and this is request 4.")
        #expect(stub.requests.count == 4)
    }

    @Test func spendsABodyThatCanBeReadOnceAsAServerDoes() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 503))
        let stub = StubTransport(sequence: [.respond(503), .respond(.ok)])
        for (transport, url) in [(platformTransport(), server.url()), (stub, "http://h/")] as [(any HTTPTransport, String)] {
            let client = testClient(configuration: .init(maxRetries: 1, random: { 0 }), transport: transport)
            let request = HTTPRequest(.put, url, body: .once(HTTPBody.bytes([1, 2])))
            #expect(await httpError { try await client.send(request) }?.code == .bodyNotReplayable)
        }
        #expect(try await stub.requests[0].body.collect() == [1, 2])
    }

    @Test func leavesABodyUnreadWhenItFails() async throws {
        let stub = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(.ok)])
        let client = testClient(configuration: .init(maxRetries: 1, random: { 0 }), transport: stub)
        let request = HTTPRequest(.put, "http://h/", body: .once(HTTPBody.bytes([1, 2])))
        #expect(try await client.send(request).status == .ok)
        #expect(try await stub.requests[1].body.collect() == [1, 2])
    }

    @Test(arguments: [3, 5] as [Int64]) func failsWhenABodyIsNotAsLongAsItSays(length: Int64) async {
        let request = HTTPRequest(.put, "http://h/", body: .stream(length: length) { HTTPBody.bytes([1, 2, 3, 4]) })
        #expect(await httpError { try await StubTransport(status: .ok).send(request) }?.code == .bodyUnreadable)
    }

    @Test func throwsInACancelledTask() async {
        let stub = StubTransport(status: .ok)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stub.send(HTTPRequest("http://example.com/"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.requests.isEmpty)
    }

    @Test func servesAThousandAtOnce() async throws {
        let stub = StubTransport(sequence: (200..<1200).map { .respond(HTTPStatus($0)) })
        let urls = try await withThrowingTaskGroup(of: (code: Int, url: String).self) { group in
            for index in 0..<1000 {
                group.addTask {
                    let url = "http://example.com/\(index)"
                    return (try await stub.send(HTTPRequest(url)).status.code, url)
                }
            }
            return try await group.reduce(into: [Int: String]()) { $0[$1.code] = $1.url }
        }
        #expect(urls.count == 1000)
        #expect(stub.requests.map(\.urlText) == (200..<1200).map { urls[$0] ?? "" })
    }
}

@Suite(.leavesNothing) struct RecordingTransportTests {
    @Test func recordsResponsesAndErrorsWithTheirTimes() async throws {
        let clock = TestClock()
        let stub = StubTransport { request in
            try await clock.sleep(for: .seconds(2))
            guard request.method == .get else { throw HTTPError(.connection) }
            return HTTPResponse(status: .ok, request: request)
        }
        let recorder = RecordingTransport(stub, clock: clock)
        clock.advance(by: .seconds(1))
        for method in [HTTPMethod.get, .post] {
            let task = Task { try await recorder.send(HTTPRequest(method, "http://example.com/")) }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(2))
            _ = await task.result
        }
        let exchanges = recorder.exchanges
        #expect(exchanges.map(\.request.method) == [.get, .post])
        #expect(exchanges.map(\.start) == [.seconds(1), .seconds(3)])
        #expect(exchanges.map(\.duration) == [.seconds(2), .seconds(2)])
        #expect(try exchanges[0].result.get().status == .ok)
        #expect(throws: HTTPError.self) { try exchanges[1].result.get() }
    }

    /// Answers by body: in memory, still arriving, not at all.
    private static let answers: [@Sendable (HTTPRequest) throws -> HTTPResponse] = [
        { HTTPResponse(status: .ok, body: .text("ok"), request: $0) },
        { HTTPResponse(status: .ok, body: .incoming(ArrivingBody(request: $0)), request: $0) },
        { throw HTTPError(.connection, request: $0, underlying: HTTPError(.tls, request: $0)) },
        { throw HTTPError(.connection, response: HTTPResponse(status: .ok, request: $0)) },
    ]

    @Test(arguments: answers.indices) func theLogKeepsNoClient(number: Int) async throws {
        weak var released: HTTPClient?
        let recorder = RecordingTransport(StubTransport { try Self.answers[number]($0) })
        do {
            let client = testClient(transport: recorder)
            released = client
            _ = try? await client.stream(HTTPRequest("http://example.com/"))
        }
        #expect(recorder.exchanges.count == 1)
        await eventually(within: .seconds(120)) { released == nil }
        #expect(released == nil)
    }

    private struct Writer: ByteWriter {
        nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {}
    }

    @Test func theLogKeepsNoConnection() async throws {
        let recorder = RecordingTransport(
            StubTransport { request in
                var response = HTTPResponse(
                    status: 101, body: .incoming(ArrivingBody(request: request)), request: request)
                response.writer = Writer()
                return response
            })
        #expect(try await recorder.send(HTTPRequest("http://example.com/")).writer != nil)
        #expect(try recorder.exchanges[0].result.get().writer == nil)
    }

    private struct Remarking: ExchangeTransport {
        let keepsTime = true
        let remark: String? = "HTTP/3 isn't spoken"

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: .ok, request: request) }
        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse { try await send(request) }
    }

    @Test func handsOnWhatATransportSaysOfItself() {
        let recorder = RecordingTransport(Remarking())
        #expect(recorder.keepsTime && recorder.remark == "HTTP/3 isn't spoken")
    }
}

/// A body that knows its request, as a transport's does.
private final class ArrivingBody: IncomingBody {
    private let request: HTTPRequest

    init(request: HTTPRequest) { self.request = request }

    func next() async throws -> [UInt8]? { nil }
    func close() {}
    var isSpent: Bool { false }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}
