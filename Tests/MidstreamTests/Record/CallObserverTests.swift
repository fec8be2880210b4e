import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Writes down what it sees, a line for each.
private final class Lines: CallObserver {
    private let state = Locked((lines: [String](), calls: [CallRecord](), exchanges: [ExchangeRecord]()))
    let keepsBodies: Int

    init(keepsBodies: Int = 0) { self.keepsBodies = keepsBodies }

    var all: [String] { state.withLock { $0.lines } }
    var calls: [CallRecord] { state.withLock { $0.calls } }
    /// All records that it was given.
    var exchanges: [ExchangeRecord] { state.withLock { $0.exchanges + $0.calls.flatMap(\.exchanges) } }

    /// The lines of the calls in the order of their beginnings, without the calls' numbers.
    private func add(_ line: String) { state.withLock { $0.lines.append(line) } }

    func began(_ call: CallRecord.Start) {
        add("began\(call.purpose == .own ? "" : " \(call.purpose)") \(call.request.urlText.suffix(2))")
    }
    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) { add(event.name) }
    func endedExchange(_ exchange: ExchangeRecord) {
        state.withLock { $0.exchanges.append(exchange) }
        add("exchange \(exchange.id.number) \(exchange.cause) \(exchange.status?.code.description ?? exchange.error ?? "?")")
    }
    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        state.withLock { $0.exchanges.append(exchange) }
        let name = "\(end)".prefix { $0 != "(" }
        add("body \(exchange.id.number) \(name) \(exchange.responseBody?.size ?? -1)")
    }
    func endedCall(_ call: CallRecord) {
        state.withLock { $0.calls.append(call) }
        add("ended \(call.status?.code.description ?? "-") \(call.error ?? "-")")
    }
}

private typealias Settings = HTTPClient.Configuration

/// A server that knows a few paths.
private func stub() -> StubTransport {
    let count = Locked<[String: Int]>([:])
    return StubTransport { request in
        let path = String(request.urlText.suffix(2))
        let number = count.withLock { count in
            count[path, default: 0] += 1
            return count[path] ?? 0
        }
        var response = HTTPResponse(status: .ok, headers: [.cacheControl: "no-store"], body: .text("hello"), request: request)
        switch path {
        case "/r" where number == 1: response.status = 503
        case "/m":
            response.status = 302
            response.headers["Location"] = "http://h/a"
        case "/c" where request.headers[.authorization] != "Bearer 2": response.status = 401
        case "/f": throw HTTPError(.connection, "refused", phase: .notSent)
        case "/n": response.status = 404
        case "/l" where number == 1: response.status = 404
        case "/s": response.headers[.cacheControl] = "max-age=0, stale-while-revalidate=100"
        case "/k": response.headers[.cacheControl] = "max-age=100"
        case "/i":
            var metrics = TransportMetrics()
            metrics.resends = 1
            metrics.interim = [InterimResponse(status: 103)]
            response.metrics = metrics
        default: break
        }
        return response
    }
}

/// Refreshes tokens 1, 2, ….
private struct Counting: Authenticator {
    let tokens = Locked(1)

    func apply(_ credential: Int, to request: inout HTTPRequest) { request.headers[.authorization] = "Bearer \(credential)" }
    func isRejection(_ response: HTTPResponse, of credential: Int) -> Bool { response.status == 401 }
    func refresh(_ rejected: Int?) async throws -> Int { tokens.increment() }
}

@Suite("An observer of calls sees", .leavesNothing, .timeLimit(.minutes(10)))
struct CallObserverTests {
    private func client(
        _ lines: Lines, recordsTrace: Bool = true, transport: (any HTTPTransport)? = nil, validators: [any HTTPValidator]? = nil,
        clock: any Clock<Duration> = ContinuousClock(), @PipelineBuilder interceptors: () -> [any HTTPInterceptor] = { [] }
    ) -> HTTPClient {
        testClient(
            baseURL: "http://h",
            configuration: Settings(
                maxRetries: 1, validators: validators ?? [DefaultValidator()], clock: clock, random: { 0 },
                recordsTrace: recordsTrace,
                observers: [lines]), transport: transport ?? stub(), interceptors: interceptors)
    }

    @Test("each event once and in order", arguments: [true, false])
    func order(recordsTrace: Bool) async throws {
        let lines = Lines()
        let client = client(lines, recordsTrace: recordsTrace) { CookieInterceptor() }
        _ = try await client.send(HTTPRequest("/a"))
        _ = try await client.send(HTTPRequest("/r"))
        _ = try await client.send(HTTPRequest("/m"))
        _ = try await client.send(HTTPRequest("/i"))
        _ = try? await client.send(HTTPRequest("/n"))
        #expect(
            lines.all == [
                "began /a", "exchange 1 first 200", "ended 200 -",
                "began /r", "exchange 1 first 503", "retry", "exchange 2 retry 200", "ended 200 -",
                "began /m", "exchange 1 first 302", "redirect", "exchange 2 redirect 200", "ended 200 -",
                "began /i", "transport.interim", "transport.resend", "exchange 1 first 200", "ended 200 -",
                "began /n", "exchange 1 first 404", "ended 404 unacceptableStatus",
            ])
        let calls = lines.calls
        #expect(calls[1].exchanges.map(\.attempt) == [1, 2] && calls[1].events.map(\.name) == ["retry"])
        #expect(calls.allSatisfy { $0.spans.isEmpty == !recordsTrace })
        #expect(calls[2].url == "http://h/m" && calls[2].exchanges[1].url == "http://h/a")
    }

    @Test("failures, also of what never began")
    func failures() async throws {
        let lines = Lines()
        let client = client(lines, validators: []) {
            ClosureRequestInterceptor { if $0.urlText.hasSuffix("/x") { throw Failure() } }
        }
        for url in ["/f", "http://", "/x"] {
            await #expect(throws: (any Error).self) { try await client.send(HTTPRequest(RequestURL(url))) }
        }
        #expect(
            lines.all == [
                "began /f", "exchange 1 first connection", "ended - connection",
                "began //", "ended - invalidRequest",
                "began /x", "ended - Failure",
            ])
        #expect(lines.calls.map(\.spans.isEmpty) == [false, true, false])
        let error = try #require(await httpError { try await client.send(HTTPRequest("/f")) })
        #expect(error.callRecord?.exchanges.count == 1 && error.callRecord?.error == "connection")
    }

    @Test("an answer of the cache, and its validation in the background as a call that serves the first")
    func cache() async throws {
        let lines = Lines()
        let client = client(lines) { CacheInterceptor() }
        for path in ["/k", "/k", "/s", "/s"] { _ = try await client.send(HTTPRequest(RequestURL(path))) }
        await eventually { lines.calls.count == 5 }
        let events = lines.all
        #expect(
            events.prefix(10) == [
                "began /k", "exchange 1 first 200", "cache.outcome", "ended 200 -",
                "began /k", "cache.outcome", "ended 200 -",
                "began /s", "exchange 1 first 200", "cache.outcome",
            ])
        #expect(events.filter { $0.hasPrefix("exchange") }.count == 3)
        #expect(events.contains("began revalidation /s"))
        let background = try #require(lines.calls.first { $0.purpose == .revalidation })
        #expect(background.exchanges.count == 1 && lines.calls.contains { $0.id == background.servedCall })
    }

    @Test("a refreshed credential")
    func refresh() async throws {
        let lines = Lines()
        let client = client(lines) { AuthenticationInterceptor(Counting(), credential: 1) }
        _ = try await client.send(HTTPRequest("/c"))
        #expect(lines.all == ["began /c", "exchange 1 first 401", "credential", "exchange 2 credential 200", "ended 200 -"])
    }

    @Test("both exchanges of a hedge, and that of the loser before the end")
    func hedge() async throws {
        let lines = Lines()
        let count = Locked(0)
        let transport = StubTransport { request in
            let number = count.increment()
            if number == 1 { try await untilCancelled() }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = client(lines, transport: transport) { Hedging(delay: .zero) }
        _ = try await client.send(HTTPRequest("/a"))
        let lines2 = lines.all
        #expect(lines2.first == "began /a" && lines2.last == "ended 200 -" && lines2.count == 6)
        #expect(
            Set(lines2.dropFirst().dropLast()) == [
                "hedge", "hedge.won", "exchange 1 first cancelled", "exchange 2 hedge 200",
            ])
        #expect(lines.calls[0].exchanges.map(\.id.number) == [1, 2])
    }

    @Test("why each exchange was made, also where others of the call begin while retries wait")
    func retriesSideBySide() async throws {
        let (lines, retries, sent) = (Lines(), Gate(), Locked(0))
        let transport = StubTransport { request in
            let number = sent.increment()
            return HTTPResponse(status: number <= 2 ? 503 : 200, request: request)
        }
        let waits = AlternateTaskValidator(statuses: [503], work: { _ in await retries.wait() })
        let client = client(lines, transport: transport, validators: [waits, DefaultValidator()]) {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                async let first = next(request)
                async let second = next(request)
                await retries.reached(by: 2)
                let third = try await next(request)
                retries.open()
                _ = try await (first, second)
                return third
            }
        }
        _ = try await client.send(HTTPRequest("/a"))
        #expect(lines.calls.first?.exchanges.map(\.cause) == ["first", "repeat", "repeat", "retry", "retry"])
    }

    @Test("no hedge in what is sent after one was refused")
    func refusedHedge() async throws {
        let (lines, refused) = (Lines(), Gate())
        let transport = StubTransport { request in
            await refused.wait()
            return HTTPResponse(status: .ok, request: request)
        }
        let client = client(lines, transport: transport) {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                _ = try await next(request)
                return try await next(request)
            }
            Hedging(delay: .zero)
            ClosureHTTPInterceptor(stage: .exchange) { request, next in
                guard next.isHedge else { return try await next(request) }
                refused.open()
                throw HTTPError(.overloaded, phase: .notSent)
            }
        }
        _ = try await client.send(HTTPRequest("/a"))
        #expect(lines.calls.first?.exchanges.map(\.cause) == ["first", "repeat"])
    }

    @Test("that a shared call has one exchange, and an alternate is a call of its own")
    func sharing() async throws {
        let lines = Lines()
        let gate = Gate()
        let transport = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: .ok, request: request)
        }
        let coalescing = Coalescing()
        let first = client(lines, transport: transport) { coalescing }
        async let one = first.send(HTTPRequest("/a"))
        async let two = first.send(HTTPRequest("/a"))
        await eventually { coalescing.waiting == 2 }
        gate.open()
        _ = try await (one, two)
        #expect(lines.all.filter { $0.hasPrefix("exchange") } == ["exchange 1 first 200"])
        #expect(lines.all.filter { $0 == "coalesced" }.count == 2)

        let alternates = Lines()
        let login = AlternateRequestValidator(statuses: [404]) { _, _ in HTTPRequest("/a") }
        let second = client(alternates, validators: [login, DefaultValidator()])
        _ = try await second.send(HTTPRequest("/l"))
        #expect(
            alternates.all == [
                "began /l", "exchange 1 first 404", "retry", "began alternate /a", "exchange 1 first 200", "ended 200 -",
                "alternate",
                "exchange 2 retry 200", "ended 200 -",
            ])
        #expect(alternates.calls[0].servedCall == alternates.calls[1].id)
    }

    @Test("cancellation, and nothing after it")
    func cancellation() async throws {
        let lines = Lines()
        let entered = Gate()
        let transport = StubTransport { _ in
            entered.open()
            try await untilCancelled()
            throw CancellationError()
        }
        let client = client(lines, transport: transport)
        let task = Task { try await client.send(HTTPRequest("/a")) }
        await entered.wait()
        task.cancel()
        _ = await task.result
        #expect(lines.all == ["began /a", "exchange 1 first cancelled", "ended - cancelled"])
        #expect(lines.calls.first?.spans.isEmpty == false)
    }

    @Test("a call's own passes, where one within it has failed", arguments: [false, true])
    func failureWithin(isTransports: Bool) async throws {
        let (lines, linesWithin) = (Lines(), Lines())
        let other = client(linesWithin, validators: []) { ClosureRequestInterceptor("Inner", stage: .call) { _ in } }
        let transport = StubTransport { _ in try await other.send(HTTPRequest("/f")) }
        let client = client(lines, transport: transport, validators: []) {
            ClosureHTTPInterceptor("Outer", stage: .call) { request, next in
                if isTransports { return try await next(request) }
                return try await other.send(HTTPRequest("/f"))
            }
        }
        let error = try #require(await httpError { try await client.send(HTTPRequest("/a")) })
        #expect(error.trace?.spans.map(\.name) == ["Outer"])
        #expect(lines.calls.first?.spans.map(\.name) == ["Outer"] && linesWithin.calls.first?.spans.map(\.name) == ["Inner"])
        #expect(error.callRecord?.id == lines.calls.first?.id)
    }

    @Test("a streamed body's end after the end of the call, once", arguments: ["read", "failed", "closed", "released"])
    func bodies(way: String) async throws {
        let lines = Lines(keepsBodies: 3)
        let transport = StubTransport { request in
            let body = ArrivingBody(thenThrowing: way == "failed" ? HTTPError(.connectionLost) : nil)
            return HTTPResponse(
                status: .ok, body: .incoming(body, length: 5), request: request)
        }
        let client = client(lines, transport: transport)
        var response: HTTPResponse? = try await client.stream(HTTPRequest("/a"))
        switch way {
        case "read": #expect(try await response?.body.collect() == Array("hello".utf8))
        case "failed": _ = try? await response?.body.collect()
        case "closed": response?.body.close()
        default: break
        }
        response = nil
        let end =
            switch way {
            case "read": "complete 5"
            case "failed": "failed 5"
            case "closed": "closed 0"
            default: "released 0"
            }
        #expect(lines.all == ["began /a", "exchange 1 first 200", "ended 200 -", "body 1 \(end)"])
    }

    @Test("the same request sent twice at once as two calls")
    func twice() async throws {
        let lines = Lines()
        let client = client(lines)
        let request = HTTPRequest("/a")
        async let one = client.send(request)
        async let two = client.send(request)
        _ = try await (one, two)
        #expect(Set(lines.calls.map(\.id)).count == 2 && Set(lines.calls.map(\.requestID)) == [request.id])
    }

    @Test("bodies as far as it keeps them, which stay as they are")
    func keptBodies() async throws {
        let lines = Lines(keepsBodies: 4)
        let sent = Locked<[UInt8]>([])
        let transport = StubTransport { request in
            let bytes = try await request.body.collect()
            sent.withLock { $0 = bytes }
            return HTTPResponse(status: .ok, body: .text("answer"), request: request)
        }
        let client = client(lines, transport: transport)
        for body in [HTTPBody.text("question"), .stream { chunks("ques", "tion") }] {
            let response = try await client.send(HTTPRequest(.post, "/a", body: body))
            #expect(response.body.text == "answer" && sent.withLock { String(decoding: $0, as: UTF8.self) } == "question")
            let exchange = try #require(lines.calls.last?.exchanges.last)
            #expect(exchange.requestBody?.bytes == Array("ques".utf8) && exchange.requestBody?.size == 8)
            #expect(exchange.responseBody?.bytes == Array("answ".utf8) && exchange.responseBody?.isWhole == false)
        }
    }

    @Test("no more of bodies than it wants, whatever others want, and errors have what capsules keep", arguments: [true, false])
    func othersBodies(keepsCapsules: Bool) async throws {
        let observers = [0, 4, 100_000].map { Lines(keepsBodies: $0) }
        let transport = StubTransport { request in
            guard request.urlText.hasSuffix("/n") else {
                return HTTPResponse(status: .ok, body: .incoming(ArrivingBody(), length: 5), request: request)
            }
            return HTTPResponse(status: .notFound, body: .text("hello"), request: request)
        }
        let client = testClient(
            baseURL: "http://h", configuration: Settings(observers: observers, keepsCapsules: keepsCapsules),
            transport: transport)
        let body = HTTPBody.text(String(repeating: "a", count: 70_000))
        _ = try await client.stream(HTTPRequest(.post, "/a", body: body)).body.collect()
        let error = await httpError { try await client.send(HTTPRequest(.post, "/n", body: body)) }
        for (observer, kept) in zip(observers, [(nil, nil), (4, 4), (70_000, 5)] as [(Int?, Int?)]) {
            #expect(observer.exchanges.count == 5)
            for exchange in observer.exchanges {
                #expect(exchange.requestBody?.bytes.count == kept.0)
                #expect(exchange.responseBody?.bytes.count == (exchange.isBodyArriving ? nil : kept.1))
            }
        }
        let exchange = try #require(error?.callRecord?.exchanges.first)
        #expect(exchange.requestBody?.bytes.count == (keepsCapsules ? 65_536 : nil))
        #expect(exchange.responseBody?.bytes.count == (keepsCapsules ? 5 : nil))
    }
}
