import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Says in parts what it chose.
private struct Chosen: CallEvent, Equatable {
    static let name = "mirror.chosen"
    let place: Int
    let isNear: Bool
    var attributes: [String: EventValue] { ["place": .count(place), "near": .boolean(isNear), "share": 0.5, "kind": "mirror"] }
    var description: String { "mirror \(place)" }
}

private struct ChoosesMirror: RequestInterceptor {
    func intercept(request: inout HTTPRequest) async throws { request.record(Chosen(place: 2, isNear: true)) }
}

private struct RecordingValidator: HTTPValidator {
    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        response.record(Chosen(place: 3, isNear: false))
        return .next
    }
}

@Suite("Events", .leavesNothing, .timeLimit(.minutes(10)))
struct CallEventTests {
    @Test("An event is a note and has parts")
    func ownEvent() async throws {
        let client = testClient(transport: StubTransport(status: .ok)) { ChoosesMirror().at(.call) }
        let trace = try await client.send(HTTPRequest("https://a/")).trace
        #expect(trace.events(of: Chosen.self) == [Chosen(place: 2, isNear: true)])
        let span = try #require(trace.spans.first)
        #expect(span.notes == ["mirror 2"])
        let event = try #require(span.events.first)
        #expect(event.name == "mirror.chosen")
        #expect(event.text == "mirror 2")
        #expect(event.attributes == ["place": 2, "near": true, "share": 0.5, "kind": "mirror"])
        #expect(event.startNanoseconds >= span.startNanoseconds)
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
        #expect(trace.events(of: Chosen.self).map(\.place) == [3])
    }

    @Test("Nothing is made of an event when nothing is recorded")
    func unrecorded() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        let client = testClient(configuration: configuration, transport: StubTransport(status: .ok)) {
            ClosureRequestInterceptor("Unheard") { request in
                request.record(
                    { () -> Chosen in
                        Issue.record("made")
                        return Chosen(place: 0, isNear: false)
                    }())
            }
        }
        #expect(try await client.send(HTTPRequest("https://a/")).trace.events(of: Chosen.self).isEmpty)
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
        let retry = try #require(trace.events(of: CallEvents.Retry.self).first)
        #expect(retry.attempt == 1)
        #expect(retry.status == 503)
        #expect(retry.outcome == "503 Service Unavailable")
        let redirect = try #require(trace.events(of: CallEvents.Redirect.self).first)
        #expect(redirect.status == 302)
        #expect(!redirect.target.contains("S3CRET"))
        let end = try #require(trace.events(of: CallEvents.NoRetry.self).first)
        #expect(end.attempt == 2)
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
