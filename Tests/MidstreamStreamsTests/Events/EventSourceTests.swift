import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamStreams

/// Writes down how bodies have failed.
private final class BodyFailures: CallObserver {
    let all = Locked<[String]>([])

    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        guard case .failed = end else { return }
        all.withLock { $0.append("\(exchange.error ?? "none") \(exchange.phase?.rawValue ?? "nowhere")") }
    }
}

/// On real sockets, with a clock that the test moves.
@Suite("Events over several connections", .leavesNothing, .timeLimit(.minutes(10)))
struct EventSourceTests {
    private let server: MockServer
    private let clock = TestClock()
    private let client: HTTPClient
    private let reconnections = Locked<[(attempt: Int, delay: Duration, cause: HTTPError?)]>([])

    init() throws {
        server = try MockServer()
        // The arbiter would read the body of a response that is rejected within a limit on the same clock, which isn't one of these waits.
        // Full jitter shows the whole of the delay by the number 1, but for its last bit.
        let configuration = HTTPClient.Configuration(timeout: nil, validators: [], clock: clock, random: { 1 })
        client = testClient(baseURL: server.url(), configuration: configuration)
    }

    private static func stream(_ text: String, fault: Fault? = nil) -> MockServer.Response {
        .init(headers: ["Content-Type": "text/event-stream"], body: .bytes(Array(text.utf8)), fault: fault)
    }

    private static let end = MockServer.Response(status: .noContent)

    private func events(
        _ request: HTTPRequest = HTTPRequest("/"), silenceLimit: Duration? = nil
    ) -> ElementSequence<ServerSentEvent> {
        client.events(request, silenceLimit: silenceLimit) { [reconnections] attempt, delay, cause in
            reconnections.withLock { $0.append((attempt, delay, cause)) }
        }
    }

    /// The data of all events, and how long the waits between connections were.
    private func outcome(
        waits: Int, _ source: ElementSequence<ServerSentEvent>? = nil
    ) async -> (delays: [Duration], result: Result<[String], any Error>) {
        let source = source ?? events()
        return await clock.waits(waits) { try await source.all().map(\.data) }
    }

    @Test("It asks for an event stream, and goes on behind the last event")
    func request() async throws {
        server.enqueue(Self.stream("id: ü 7\ndata: a\n\nid: 8\ndata: lost"), Self.stream("data: b\n\n"), Self.end)
        let (delays, result) = await outcome(waits: 2)
        #expect(try result.get() == ["a", "b"])
        #expect(delays == [.seconds(3), .seconds(3)])
        let requests = server.requests
        #expect(requests.map { $0.headers["Last-Event-ID"] } == [nil, "ü 7", "ü 7"])
        #expect(requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
        #expect(requests.allSatisfy { $0.headers[.cacheControl] == "no-store" })
        #expect(reconnections.withLock { $0.map(\.attempt) } == [1, 1])
        #expect(reconnections.withLock { $0.allSatisfy { $0.cause == nil } })
    }

    #if os(Linux)
        @Test("An encoded stream that breaks off is followed by another, like any")
        func cutEncoding() async throws {
            // "data: a" by gzip (RFC 1952), without the checksum and the size behind it.
            let cut: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 73, 44, 73, 180, 82, 72, 228, 226, 2, 0]
            server.enqueue(
                .init(headers: ["Content-Type": "text/event-stream", "Content-Encoding": "gzip"], body: .bytes(cut)),
                Self.stream("data: b\n\n"), Self.end)
            let (delays, result) = await outcome(waits: 2)
            #expect(try result.get() == ["a", "b"])
            #expect(delays == [.seconds(3), .seconds(3)])
            #expect(reconnections.withLock { $0.map { $0.cause?.code } } == [.decoding, nil])
        }
    #endif

    @Test("An identifier that no field can carry isn't sent", arguments: ["\u{1}", "\u{1B}[0m", "a\u{7F}"])
    func unsendable(id: String) async throws {
        server.enqueue(
            Self.stream("id: 1\ndata: a\n\n"), Self.stream("id: \(id)\ndata: b\n\n"), Self.stream("id: 2\ndata: c\n\n"), Self.end)
        #expect(try await outcome(waits: 3).result.get() == ["a", "b", "c"])
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", nil, "2"])
    }

    @Test("Fields of the request stay, its identifier until there is another")
    func ownFields() async throws {
        server.enqueue(Self.stream("data: a\n\n"), Self.stream("id: 2\ndata: b\n\n"), Self.end)
        let request = HTTPRequest(
            "/", headers: ["Last-Event-ID": "1", "Accept": "text/event-stream, x/y", "Cache-Control": "no-cache"])
        _ = try await outcome(waits: 2, events(request)).result.get()
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == ["1", "1", "2"])
        #expect(server.requests.allSatisfy { $0.headers[.accept] == "text/event-stream, x/y" })
        #expect(server.requests.allSatisfy { $0.headers[.cacheControl] == "no-cache" })
    }

    @Test("The wait doubles up to a minute, and begins again after an event")
    func doubling() async throws {
        for _ in 0..<7 { server.enqueue(.init(status: 503)) }
        server.enqueue(Self.stream("data: a\n\n"), .init(status: 500), Self.end)
        let (delays, result) = await outcome(waits: 9)
        #expect(try result.get() == ["a"])
        #expect(delays == [3, 6, 12, 24, 48, 60, 60, 3, 6].map { .seconds($0) })
        #expect(reconnections.withLock { $0.map(\.attempt) } == [1, 2, 3, 4, 5, 6, 7, 1, 2])
        #expect(reconnections.withLock { $0.first?.cause?.response?.status } == 503)
    }

    @Test("The server says how long to wait; no longer than a minute, and not for ever again at once")
    func retry() async throws {
        server.enqueue(
            Self.stream("retry: 250\n\n"), Self.stream("retry: 0\ndata: a\n\n"), Self.stream(""), Self.stream(""),
            Self.stream("retry: 99999999999\n\n"), Self.end)
        let (delays, result) = await outcome(waits: 5)
        #expect(try result.get() == ["a"])
        #expect(delays == [375, 200, 400, 800, 90_000].map { .milliseconds($0) })
        var pace = ReconnectionPace()
        #expect(pace.delay(afterRetry: 30_000, lifetime: .seconds(1)) { 0 } == .seconds(30))
        #expect(pace.delay(afterRetry: 30_000, lifetime: .seconds(1)) { 1 } == .seconds(60))
        #expect(pace.delay(afterRetry: 300_000, lifetime: .seconds(1)) { 0 } == .seconds(60))
    }

    @Test("Quiet connections that last aren't backed off from")
    func quietConnections() async throws {
        let bodies = (0..<3).map { _ in AsyncStream.makeStream(of: [UInt8].self) }
        for (stream, _) in bodies {
            server.enqueue(.init(headers: ["Content-Type": "text/event-stream"], body: .once(stream)))
        }
        server.enqueue(Self.end)
        let all = Task { try await events(silenceLimit: .seconds(100)).all() }
        var time = Duration.zero
        for (_, continuation) in bodies {
            continuation.yield(Array(": alive\n".utf8))
            // It reads.
            await eventually { clock.nextDeadline?.offset == time + .seconds(100) }
            clock.advance(by: .seconds(30))
            continuation.finish()
            time += .seconds(33)
            await eventually { clock.nextDeadline?.offset == time }
            clock.advance(by: .seconds(3))
        }
        #expect(try await all.value.isEmpty)
        #expect(reconnections.withLock { $0.map(\.delay) } == [.seconds(3), .seconds(3), .seconds(3)])
    }

    @Test("Connections that end at once make the least wait double, whatever they bring; one that lasts begins again")
    func briefConnections() async throws {
        for _ in 0..<8 { server.enqueue(Self.stream("retry: 0\ndata: a\n\n")) }
        server.enqueue(Self.end)
        let (delays, result) = await outcome(waits: 8)
        #expect(try result.get().count == 8)
        #expect(delays == [150, 200, 400, 800, 1_600, 3_000, 3_000, 3_000].map { .milliseconds($0) })
    }

    @Test("A lasting connection takes the doubling back, and no jitter goes below the least")
    func lastingConnection() {
        var pace = ReconnectionPace()
        func delay(after lifetime: Duration, part: Double = 1) -> Duration {
            pace.reset()
            return pace.delay(afterRetry: 0, lifetime: lifetime) { part }
        }
        #expect(delay(after: .zero) == .milliseconds(150))
        #expect(delay(after: .milliseconds(999)) == .milliseconds(200))
        #expect(delay(after: .seconds(1)) == .milliseconds(150))
        #expect(delay(after: .zero, part: 0) == .milliseconds(100))
    }

    @Test("The events of a client are decoded with its decoder, others with a plain one")
    func decoding() async throws {
        struct Price: Decodable { let inCents: Int }
        var configuration = client.configuration
        let snakeCase = JSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        configuration.decoder = snakeCase
        let client = testClient(baseURL: server.url(), configuration: configuration)
        server.enqueue(Self.stream("data: {\"in_cents\":\ndata: 42}\n\n"))
        var events = client.events(HTTPRequest("/")).makeAsyncIterator()
        let event = try #require(try await events.next())
        #expect(try event.decode(Price.self).inCents == 42)
        #expect(throws: HTTPError.self) { try event.decode(Price.self, decoder: JSONDecoder()) }
        let error = #expect(throws: HTTPError.self) { try ServerSentEvent(data: event.data).decode(Price.self) }
        #expect(error?.message == "The event's data is no Price: the root: the key \"inCents\" is missing.")
        #expect(event == ServerSentEvent(data: event.data))
    }

    @Test("A deadline covers the events, over all connections", arguments: [true, false])
    func deadline(isReconnecting: Bool) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        if isReconnecting { server.enqueue(Self.stream("data: a\n\n")) }
        server.enqueue(.init(headers: ["Content-Type": "text/event-stream"], body: .once(stream)))
        continuation.yield(Array("data: b\n\n".utf8))
        var request = HTTPRequest("/")
        request.deadline = .seconds(5)
        let seen = Locked<[String]>([])
        let source = events(request)
        let task = Task { for try await event in source { seen.withLock { $0.append(event.data) } } }
        if isReconnecting {
            await eventually { clock.nextDeadline?.offset == .seconds(3) && seen.withLock { !$0.isEmpty } }
            clock.advance(by: .seconds(3))
        }
        await eventually { seen.withLock { $0.last == "b" } }
        await eventually { clock.nextDeadline?.offset == .seconds(5) }
        clock.advance(by: .seconds(isReconnecting ? 2 : 5))
        let error = await httpError { try await task.value }
        #expect(error?.code == .deadlineExceeded && error?.request != nil)
        #expect(error?.message == "The call took longer than 5.0 seconds.")
        continuation.finish()
    }

    @Test(
        "An error says which limit was passed in the answer to which request",
        arguments: [
            (8, 100, "A line of the event stream has more than 8 bytes (lineLimit)."),
            (100, 8, "The data of an event has more than 8 bytes (eventLimit)."),
        ])
    func passedLimit(line: Int, event: Int, message: String) async throws {
        server.enqueue(Self.stream("data: abcdefgh\n\n"))
        let source = client.events(HTTPRequest("/"), lineLimit: line, eventLimit: event)
        let error = await httpError { try await source.all() }
        #expect(error?.code == .bodyTooLarge && error?.request != nil)
        #expect(error?.message == message)
    }

    @Test("An error's request is that of the answer, behind a redirect")
    func passedLimitBehindARedirect() async throws {
        server.enqueue(.init(status: .temporaryRedirect, headers: ["Location": "/moved"]), Self.stream("data: abcdefgh\n\n"))
        let error = await httpError { try await client.events(HTTPRequest("/"), lineLimit: 8).all() }
        #expect(error?.request?.urlText.hasSuffix("/moved") == true)
    }

    @Test("No wait is begun that would pass the deadline, which needn't cover bodies")
    func deadlineWhileWaiting() async throws {
        for _ in 0..<4 { server.enqueue(Self.stream("data: a\n\n")) }
        server.enqueue(Self.end)
        var request = HTTPRequest("/")
        request.deadline = .seconds(5)
        request.deadlineCoversBody = false
        let uncovered = events(request)
        let all = Task { try await uncovered.all() }
        for wait in 1...4 {
            await eventually { reconnections.withLock { $0.count } == wait && clock.nextDeadline?.offset == .seconds(3 * wait) }
            clock.advance(by: .seconds(3))
        }
        #expect(try await all.value.count == 4)
        for _ in 0..<2 { server.enqueue(Self.stream("data: a\n\n")) }
        request.deadlineCoversBody = nil
        let covered = events(request)
        let task = Task { try await covered.all() }
        await eventually { reconnections.withLock { $0.count } == 5 && clock.nextDeadline?.offset == .seconds(15) }
        clock.advance(by: .seconds(3))
        #expect(await httpError { try await task.value }?.code == .deadlineExceeded)
    }

    @Test("An actor that reads events isn't left for each of them")
    func isolation() async throws {
        let text = String(repeating: "data: a\n\n", count: 1_000)
        try await expectStay(for: HTTPBody.text(text).events())
        let stub = StubTransport(sequence: [
            .respond(.ok, headers: ["Content-Type": "text/event-stream"], body: .text(text)), .respond(.noContent),
        ])
        let client = testClient(configuration: .init(random: { 0 }), transport: stub)
        try await expectStay(for: client.events(HTTPRequest("https://h/")))
    }

    @Test("Full jitter takes a part of the wait")
    func jitter() async throws {
        var configuration = client.configuration
        configuration.random = { 0.25 }
        let client = testClient(baseURL: server.url(), configuration: configuration)
        server.enqueue(Self.stream(""), Self.end)
        let (delays, _) = await outcome(waits: 1, client.events(HTTPRequest("/")))
        #expect(delays == [.milliseconds(750)])
    }

    @Test("Statuses that may pass", arguments: [408, 429, 500, 502, 503, 504])
    func transientStatus(status: Int) async throws {
        server.enqueue(.init(status: HTTPStatus(status), body: "later"), Self.stream("data: a\n\n"), Self.end)
        let (delays, result) = await outcome(waits: 2)
        #expect(try result.get() == ["a"])
        #expect(delays == [.seconds(3), .seconds(3)])
    }

    @Test("… as errors of the validators, too", arguments: [429, 503])
    func rejectedStatus(status: Int) async throws {
        let client = testClient(baseURL: server.url(), configuration: .init(random: { 0 }))
        server.enqueue(.init(status: HTTPStatus(status), body: "later"), Self.stream("data: a\n\n"), Self.end)
        #expect(try await client.events(HTTPRequest("/")).all().map(\.data) == ["a"])
        server.enqueue(.init(status: 404))
        #expect(await httpError { try await client.events(HTTPRequest("/")).all() }?.response?.status == .notFound)
    }

    @Test("Retry-After is the least, and has a limit")
    func retryAfter() async throws {
        server.enqueue(
            .init(status: 503, headers: ["Retry-After": "30"]), .init(status: 429, headers: ["Retry-After": "1"]),
            .init(status: 429, headers: ["Retry-After": "9999"]), Self.end)
        let (delays, result) = await outcome(waits: 3)
        #expect(try result.get() == [])
        #expect(delays == [.seconds(30), .seconds(6), .seconds(60)])
    }

    @Test("Other statuses end it", arguments: [400, 401, 404, 501, 505])
    func finalStatus(status: Int) async throws {
        server.enqueue(.init(status: HTTPStatus(status)))
        let (delays, result) = await outcome(waits: 0)
        #expect(delays.isEmpty)
        #expect(result.httpError?.code == .unacceptableStatus)
        #expect(result.httpError?.response?.status.code == status)
        result.httpError?.response?.body.close()
    }

    @Test("Statuses that the validators let through end it, too", arguments: [201, 206, 304])
    func strangeStatus(status: Int) async throws {
        server.enqueue(.init(status: HTTPStatus(status), headers: ["Content-Type": "text/event-stream"]))
        #expect(await outcome(waits: 0).result.httpError?.code == .unacceptableStatus)
    }

    @Test(
        "Another type ends it",
        arguments: [nil, "text/html", "text/event-streams", "application/json", "text/event-stream, text/html"])
    func otherType(type: String?) async throws {
        server.enqueue(.init(headers: type.map { ["Content-Type": $0] } ?? [:], body: .bytes(Array("data: a\n\n".utf8))))
        let result = await outcome(waits: 0).result
        #expect(result.httpError?.code == .decoding)
        #expect(try await result.httpError?.response?.body.collect() == Array("data: a\n\n".utf8))
    }

    @Test(
        "The type's parameters and case don't matter; of several the last one counts",
        arguments: [
            "Text/Event-Stream ;charset=utf-8", "text/event-stream, text/event-stream",
            "application/json, text/event-stream; charset=utf-8", "text/event-stream, charset=utf-8", "text/event-stream, */*",
        ])
    func typeOfStream(type: String) async throws {
        server.enqueue(.init(headers: ["Content-Type": type], body: .bytes(Array("data: a\n\n".utf8))), Self.end)
        #expect(try await outcome(waits: 1).result.get() == ["a"])
    }

    @Test("Redirects are followed", arguments: [301, 302, 307, 308])
    func redirect(status: Int) async throws {
        server.enqueue(
            .init(status: HTTPStatus(status), headers: ["Location": "/moved"]), Self.stream("data: a\n\n"), Self.end)
        #expect(try await outcome(waits: 1).result.get() == ["a"])
        #expect(server.requests.map(\.path) == ["/", "/moved", "/"])
    }

    @Test("A connection that breaks is followed by another; what was unfinished is dropped")
    func networkLoss() async throws {
        server.enqueue(
            .init(fault: .disconnect(.beforeHead)),
            Self.stream("data: a\n\ndata: b\n", fault: .disconnect(.insideBody(afterBytes: 12))),
            Self.stream("data: c\n\n"), Self.end)
        let (delays, result) = await outcome(waits: 3)
        #expect(try result.get() == ["a", "c"])
        #expect(delays == [.seconds(3), .seconds(3), .seconds(3)])
        #expect(reconnections.withLock { $0.map { $0.cause?.code } }.prefix(2) == [.connectionLost, .connectionLost])
    }

    @Test("A server that isn't there is asked again")
    func refused() async throws {
        let request = HTTPRequest(try MockServer.refusedURL())
        let (delays, result) = await outcome(waits: 3, events(request))
        #expect(delays.prefix(3) == [.seconds(3), .seconds(6), .seconds(12)])
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("A request that isn't safe is sent once", arguments: [HTTPMethod.post, .put])
    func post(method: HTTPMethod) async throws {
        let request = HTTPRequest(method, "/", headers: ["Idempotency-Key": "1"], body: .text("prompt"))
        server.enqueue(Self.stream("data: a\n\ndata: b\n\n"))
        #expect(try await outcome(waits: 0, events(request)).result.get() == ["a", "b"])
        server.enqueue(.init(status: 503))
        #expect(await outcome(waits: 0, events(request)).result.httpError?.code == .unacceptableStatus)
        server.enqueue(Self.stream("data: a\n\n", fault: .disconnect(.insideBody(afterBytes: 3))))
        #expect(await outcome(waits: 0, events(request)).result.httpError?.code == .connectionLost)
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.text == "prompt" })
    }

    @Test("… unless it may be sent twice")
    func allowedPost() async throws {
        var request = HTTPRequest(.post, "/", body: .text("prompt"))
        request.allowsUnsafeRetry = true
        server.enqueue(Self.stream("data: a\n\n"), .init(status: 503), Self.end)
        #expect(try await outcome(waits: 2, events(request)).result.get() == ["a"])
        #expect(server.requests.map(\.text) == ["prompt", "prompt", "prompt"])
    }

    @Test("A silent connection is replaced, and comments are signs of life")
    func silence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        server.enqueue(
            .init(headers: ["Content-Type": "text/event-stream"], body: .once(stream)), Self.stream("data: b\n\n"), Self.end)
        var iterator = events(silenceLimit: .seconds(10)).makeAsyncIterator()
        continuation.yield(Array("data: a\n\n".utf8))
        #expect(try await iterator.next()?.data == "a")
        let task = Task { [iterator] in
            var iterator = iterator
            return [try await iterator.next()?.data, try await iterator.next()?.data]
        }
        await eventually { clock.nextDeadline?.offset == .seconds(10) }
        clock.advance(by: .seconds(9))
        continuation.yield(Array(": alive\n".utf8))
        // The limit of the next piece begins when the comment has come.
        await eventually { clock.nextDeadline?.offset == .seconds(19) }
        clock.advance(by: .seconds(10))
        await eventually { clock.nextDeadline?.offset == .seconds(22) }
        #expect(reconnections.withLock { $0.first?.cause?.code } == .timeout)
        #expect(reconnections.withLock { $0.first?.cause?.request != nil })
        clock.advance(by: .seconds(3))
        await eventually { clock.nextDeadline?.offset == .seconds(25) }
        clock.advance(by: .seconds(3))
        #expect(try await task.value == ["b", nil])
        continuation.finish()
    }

    @Test("The record of a connection that was silent says so, and not that the caller has cancelled")
    func recordOfSilence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        server.enqueue(.init(headers: ["Content-Type": "text/event-stream"], body: .once(stream)), Self.end)
        continuation.yield(Array(": alive\n".utf8))
        let failures = BodyFailures()
        var configuration = client.configuration
        configuration.observers = [failures]
        let watched = testClient(baseURL: server.url(), configuration: configuration)
        let all = Task { try await watched.events(HTTPRequest("/"), silenceLimit: .seconds(10)).all() }
        await eventually { clock.nextDeadline?.offset == .seconds(10) }
        clock.advance(by: .seconds(10))
        await eventually { clock.nextDeadline?.offset == .seconds(13) }
        clock.advance(by: .seconds(3))
        #expect(try await all.value.isEmpty)
        #expect(failures.all.withLock { $0 } == ["timeout answered"])
        continuation.finish()
    }

    @Test("Leaving the loop, and cancelling its task, close the connection", arguments: [true, false])
    func leaving(isCancelled: Bool) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let closed = AsyncStream.makeStream(of: Void.self)
        continuation.onTermination = { _ in closed.continuation.yield() }
        server.enqueue(.init(headers: ["Content-Type": "text/event-stream"], body: .once(stream)))
        continuation.yield(Array("data: a\n\n".utf8))
        let source = events()
        let gotOne = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for try await _ in source {
                gotOne.continuation.yield()
                if !isCancelled { break }
            }
        }
        for await _ in gotOne.stream { break }
        if isCancelled {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        for await _ in closed.stream { break }
        #expect(server.requestCount == 1)
    }

    @Test("Cancelling while it waits for another connection ends it")
    func cancelledWait() async throws {
        server.enqueue(Self.stream(""))
        let source = events()
        let task = Task { try await source.all() }
        await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requestCount == 1)
    }

    @Test("Events are read no faster than they are asked for")
    func backPressure() async throws {
        let event = Array("data: \(String(repeating: "x", count: 60_000))\n\n".utf8)
        let sent = Locked(0)
        let events = AsyncStream<[UInt8]> {
            sent.withLock { $0 += 1 }
            return event
        }
        server.enqueue(.init(headers: ["Content-Type": "text/event-stream"], body: .once(events)))
        var iterator = client.events(HTTPRequest("/")).makeAsyncIterator()
        #expect(try await iterator.next()?.data.utf8.count == 60_000)
        // The server stands still when the socket and the client's buffer are full.
        var last = -1
        while last != sent.withLock({ $0 }) {
            last = sent.withLock { $0 }
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(last < 400)
    }

    @Test("After an error there is nothing more")
    func end() async throws {
        server.enqueue(.init(status: 404))
        var iterator = events().makeAsyncIterator()
        await httpError { try await iterator.next() }?.response?.body.close()
        #expect(try await iterator.next() == nil)
        #expect(server.requestCount == 1)
    }
}
