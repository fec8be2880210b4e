import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

extension CallEvent {
    fileprivate static func chosen(place: Int, isNear: Bool) -> CallEvent {
        CallEvent(
            "mirror.chosen", "mirror \(place)",
            ["place": .count(place), "near": .boolean(isNear), "share": 0.5, "kind": "mirror", "host": nil])
    }
}

private struct ChoosesMirror: RequestInterceptor {
    func intercept(request: inout HTTPRequest) async throws { request.record(.chosen(place: 2, isNear: true)) }
}

private struct RecordingValidator: HTTPValidator {
    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        response.record(.chosen(place: 3, isNear: false))
        return .next
    }
}

@Suite("Events", .leavesNothing, .timeLimit(.minutes(10)))
struct CallEventTests {
    @Test("An event is a note and has parts")
    func ownEvent() async throws {
        let client = testClient(transport: StubTransport(status: .ok)) { ChoosesMirror().at(.call) }
        let trace = try await client.send(HTTPRequest("https://a/")).trace
        let span = try #require(trace.spans.first)
        #expect(span.notes == ["mirror 2"])
        let event = try #require(span.events.first)
        #expect(event.name == "mirror.chosen")
        #expect(event.text == "mirror 2")
        #expect(event.attributes == ["place": 2, "near": true, "share": 0.5, "kind": "mirror"])
        #expect(event.startNanoseconds >= span.startNanoseconds)
        #expect(trace.events(named: "mirror.chosen") == [event] && trace.events(named: "mirror").isEmpty)
        #expect("\(trace)".contains("· mirror 2"))
    }

    @Test("A validator's event stands at the arbiter's place, with its name before the text")
    func validator() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.validators = [RecordingValidator()]
        let client = testClient(configuration: configuration, transport: StubTransport(status: .ok))
        let trace = try await client.send(HTTPRequest("https://a/")).trace
        let span = try #require(trace.spans.first)
        #expect(span.name == "Arbiter")
        #expect(span.events.map(\.text) == ["RecordingValidator: mirror 3"])
        #expect(trace.events(named: "mirror.chosen").map(\.attributes["place"]) == [3])
    }

    @Test("Nothing is made of an event when nothing is recorded")
    func unrecorded() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        let client = testClient(configuration: configuration, transport: StubTransport(status: .ok)) {
            ClosureRequestInterceptor("Unheard") { request in
                request.record(
                    { () -> CallEvent in
                        Issue.record("made")
                        return .chosen(place: 0, isNear: false)
                    }())
            }
        }
        #expect(try await client.send(HTTPRequest("https://a/")).trace.events(named: "mirror.chosen").isEmpty)
    }

    @Test("Retries, redirects and what ends them can be read")
    func ownOfTheLibrary() async throws {
        let stub = StubTransport(sequence: [
            .respond(503), .respond(302, headers: ["Location": "/b?token=S3CRET"]), .respond(503),
        ])
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 1
        configuration.validators = [DefaultValidator(retriableStatus: [503: .immediate])]
        let client = testClient(configuration: configuration, transport: stub)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("https://a/")) }
        let trace = try #require(error?.trace)
        let retry = try #require(trace.events(named: "retry").first)
        #expect(retry.attributes == ["attempt": 1, "status": 503, "outcome": "503 Service Unavailable", "delay": 0.0])
        let redirect = try #require(trace.events(named: "redirect").first)
        #expect(redirect.attributes["status"] == 302)
        #expect(redirect.attributes["target"].map { "\($0)".contains("S3CRET") } == false)
        let end = try #require(trace.events(named: "retry.none").first)
        #expect(end.attributes["attempt"] == 2)
        #expect(end.attributes["status"] == 503)
    }

    @Test("What was recorded is encoded and read again", arguments: [EventValue.string("a"), 1, 0.5, true, -3])
    func coding(value: EventValue) throws {
        let data = try JSONEncoder().encode([value])
        #expect(try JSONDecoder().decode([EventValue].self, from: data) == [value])
    }

    @Test("A span is encoded with its events and read again")
    func codingOfSpans() async throws {
        let client = testClient(transport: StubTransport(status: .ok)) { ChoosesMirror().at(.call) }
        let trace = try await client.send(HTTPRequest("https://a/")).trace
        let spans = try JSONDecoder().decode([Trace.Span].self, from: JSONEncoder().encode(trace))
        #expect(spans == trace.spans)
        #expect(spans.first?.events.count == 1)
    }
}
