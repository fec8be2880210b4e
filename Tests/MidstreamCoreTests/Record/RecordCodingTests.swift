import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

private final class Kept: CallObserver {
    let calls = Locked<[CallRecord]>([])
    /// Exchanges whose bodies have ended.
    let streamed = Locked<[ExchangeRecord]>([])
    let keepsBodies = 1_000

    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { streamed.withLock { $0.append(exchange) } }
    func endedCall(_ call: CallRecord) { calls.withLock { $0.append(call) } }
}

@Suite("A record", .leavesNothing)
struct RecordCodingTests {
    /// A call with secrets wherever there is a place for one.
    private func call() async throws -> CallRecord {
        let kept = Kept()
        let transport = StubTransport { request in
            var metrics = TransportMetrics()
            metrics.firstByte = .milliseconds(2)
            metrics.localPort = 17
            metrics.interim = [InterimResponse(status: 103, headers: ["Set-Cookie": "S3CR3T"])]
            return HTTPResponse(
                status: .ok, headers: ["Set-Cookie": "S3CR3T", "Location": "/?token=S3CR3T", .contentType: "application/json"],
                body: .text(#"{"access_token":"S3CR3T"}"#), request: request, metrics: metrics)
        }
        let client = testClient(configuration: .init(observers: [kept]), transport: transport)
        var request = HTTPRequest(
            .post, "http://u:S3CR3T@h/a?api_key=S3CR3T", headers: ["Cookie": "S3CR3T", "X-Mine": "S3CR3T", "B": "b"],
            body: .form([("password", "S3CR3T")]))
        request.headers.markSensitive("X-Mine")
        request.route = "http://h/a?token=S3CR3T"
        _ = try await client.send(request)
        return try #require(kept.calls.withLock { $0.first })
    }

    @Test("withholds secrets where it is shown")
    func secrets() async throws {
        let call = try await call()
        var dumped = ""
        dump(call, to: &dumped)
        dump(call.exchanges, to: &dumped)
        let encoded = String(decoding: try JSONEncoder().encode(call), as: UTF8.self)
        for text in ["\(call)", "\(call.exchanges)", dumped, encoded] { #expect(!text.contains("S3CR3T"), "\(text)") }
        #expect(encoded.contains("withheld"))
    }

    @Test("is read as it was written, with its secrets where they were included")
    func roundTrip() async throws {
        let call = try await call()
        let encoder = JSONEncoder()
        encoder.userInfo[.includesSecrets] = true
        let data = try encoder.encode(call)
        let read = try JSONDecoder().decode(CallRecord.self, from: data)
        let (given, exchange) = (try #require(call.exchanges.first), try #require(read.exchanges.first))
        #expect(read.id == call.id && read.url == call.url && read.status == call.status && read.events == call.events)
        #expect(read.spans == call.spans && read.servedCall == nil)
        #expect(exchange.requestHeaders == given.requestHeaders && exchange.requestHeaders.isSensitive("X-Mine"))
        #expect(exchange.responseHeaders == given.responseHeaders && exchange.metrics == given.metrics)
        #expect(
            exchange.responseBody?.bytes == given.responseBody?.bytes && exchange.requestBody?.size == given.requestBody?.size)
        encoder.outputFormatting = .sortedKeys
        #expect(try encoder.encode(read) == encoder.encode(call))
    }

    @Test("is read with what it says of a body that is arriving, of the head, and of how far a failed request had come")
    func outcomes() async throws {
        let (kept, clock) = (Kept(), TestClock())
        let transport = StubTransport { request in
            guard request.method == .get else { throw HTTPError(.connection, "refused", phase: .notSent) }
            clock.advance(by: .seconds(1))
            return HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: request)
        }
        let client = testClient(configuration: .init(clock: clock, observers: [kept]), transport: transport)
        let response = try await client.stream(HTTPRequest("http://h/"))
        clock.advance(by: .seconds(2))
        _ = try await response.body.collect()
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(.post, "http://h/")) }
        let given = kept.calls.withLock { $0 }.flatMap(\.exchanges) + kept.streamed.withLock { $0 }
        let read = try JSONDecoder().decode([ExchangeRecord].self, from: JSONEncoder().encode(given))
        #expect(read.map(\.isBodyArriving) == [true, false, false] && read.map(\.phase) == [nil, .notSent, nil])
        #expect(read.map(\.headDuration) == [.seconds(1), .zero, .seconds(1)] && read.last?.duration == .seconds(3))
    }

    @Test("is read whatever numbers stand for its times")
    func anyTimes() async throws {
        let encoded = String(decoding: try JSONEncoder().encode(try await call()), as: UTF8.self)
        let text = encoded.replacing(#/"(start|duration|firstByte)":[-+.0-9eE]+/#) { "\"\($0.output.1)\":1e300" }
        let read = try JSONDecoder().decode(CallRecord.self, from: Data(text.utf8))
        let exchange = try #require(read.exchanges.first)
        for duration in [read.duration, exchange.start, exchange.duration] { #expect(duration == .unlimited) }
        #expect(exchange.metrics?.firstByte == .unlimited)
    }

    @Test("is written whatever numbers its events have")
    func anyNumbers() async throws {
        let kept = Kept()
        let client = testClient(configuration: .init(observers: [kept]), transport: StubTransport.ok) {
            ClosureHTTPInterceptor("Own", stage: .call) { request, next in
                request.record(CallEvent("own", "something", ["none": .number(.nan), "most": .number(.infinity)]))
                return try await next(request)
            }
        }
        _ = try await client.send(HTTPRequest("http://h/"))
        let call = try #require(kept.calls.withLock { $0.first })
        let read = try JSONDecoder().decode(CallRecord.self, from: JSONEncoder().encode(call))
        #expect(read.events.first { $0.name == "own" }?.attributes == ["none": "nan", "most": "inf"])
    }

    @Test(
        "has an identifier of 32 digits",
        arguments: ["", "0", "g0000000000000000000000000000000", "+0000000000000000000000000000000"])
    func identifiers(text: String) async throws {
        let id = try await call().id
        #expect(CallRecord.ID("\(id)") == id && "\(id)".count == 32)
        #expect(CallRecord.ID(text) == nil)
    }
}
