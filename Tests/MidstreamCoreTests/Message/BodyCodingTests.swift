import Foundation
import Interception
import MidstreamCore
import MidstreamTasks
import MidstreamTesting
import TestSupport
import Testing

@Suite("Bodies are decoded and encoded by whom the request or the client names", .leavesNothing)
struct BodyCodingTests {
    private struct Event: Codable, Sendable, Equatable {
        var happenedAt: Int
    }

    /// A format of one's own: `name=value`.
    private struct PairDecoder: BodyDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let parts = String(decoding: data, as: UTF8.self).split(separator: "=")
            return try JSONDecoder().decode(type, from: Data(#"{"\#(parts[0])": \#(parts[1])}"#.utf8))
        }
    }

    private static func snakes() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private func client(_ body: HTTPBody, _ status: HTTPStatus = .ok, _ decoder: (any BodyDecoder)? = nil) -> HTTPClient {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let configuration = HTTPClient.Configuration(decoder: decoder ?? Self.snakes(), encoder: encoder)
        return testClient(
            baseURL: "https://h", configuration: configuration, transport: StubTransport(status: status, body: body))
    }

    @Test func byTheClients() async throws {
        let client = client(.json(text: #"{"happened_at": 7}"#))
        #expect(try await client.send(HTTPRequest("x")).decode(Event.self) == Event(happenedAt: 7))
        #expect(try await client.send(.get("x", as: Event.self)) == Event(happenedAt: 7))
        #expect(try await client.get("x").value(Event.self) == Event(happenedAt: 7))
        #expect(try await client.get("x").decode(Event.self).value() == Event(happenedAt: 7))
        var pages: [Event] = []
        for try await page in client.get("x").pages(.link()).decode(Event.self) { pages.append(page) }
        #expect(pages == [Event(happenedAt: 7)])
    }

    @Test func byTheRequestsBeforeTheClients() async throws {
        let client = client("happenedAt=8")
        var request = HTTPRequest("x")
        request.decoder = PairDecoder()
        #expect(try await client.send(request).decode(Event.self) == Event(happenedAt: 8))
        #expect(try await client.get("x").decoder(PairDecoder()).value(Event.self) == Event(happenedAt: 8))
        #expect(try await client.get("x").value(Event.self, decoder: PairDecoder()) == Event(happenedAt: 8))
    }

    @Test func errorsToo() async throws {
        let rejecting = client(.json(text: #"{"happened_at": 9}"#), .notFound)
        let error = await httpError { try await rejecting.send(HTTPRequest("x")) }
        #expect(try error?.decode(Event.self) == Event(happenedAt: 9))
        let ofTask = await httpError { try await rejecting.get("x").data() }
        #expect(try ofTask?.decode(Event.self) == Event(happenedAt: 9))
    }

    private struct TellsOfAnEvent: HTTPValidator {
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            _ = try response.decode(Event.self)
            return .next
        }
    }

    private struct Happened: Error, Equatable {
        var event: Event
    }

    @Test("interceptors and validators decode by the client's as well, with and without a trace", arguments: [true, false])
    func whileTheCallIsUnderWay(recordsTrace: Bool) async throws {
        let configuration = HTTPClient.Configuration(
            validators: [TellsOfAnEvent(), DefaultValidator()], decoder: Self.snakes(), recordsTrace: recordsTrace)
        let body = HTTPBody.json(text: #"{"happened_at": 11}"#)
        let reading = testClient(
            baseURL: "https://h", configuration: configuration, transport: StubTransport(status: .ok, body: body)
        ) {
            ClosureResponseInterceptor { response in _ = try response.decode(Event.self) }
        }
        #expect(try await reading.send(HTTPRequest("x")).decode(Event.self) == Event(happenedAt: 11))
        let translating = testClient(
            baseURL: "https://h", configuration: configuration, transport: StubTransport(status: .notFound, body: body)
        ) {
            ClosureHTTPInterceptor(stage: .call) { request, next in
                do {
                    return try await next(request)
                } catch let error as HTTPError {
                    throw Happened(event: try error.decode(Event.self))
                }
            }
        }
        await #expect(throws: Happened(event: Event(happenedAt: 11))) { try await translating.send(HTTPRequest("x")) }
    }

    @Test func propertyLists() async throws {
        let list = try PropertyListEncoder().encode(Event(happenedAt: 10))
        #expect(try await client(.data(list), .ok, PropertyListDecoder()).get("x").value(Event.self) == Event(happenedAt: 10))
        #expect(try HTTPBody.encoded(Event(happenedAt: 1), by: PropertyListEncoder()).contentType == "application/x-plist")
    }

    @Test func sentValuesByTheClients() async throws {
        let client = client(.empty)
        for task in [try client.post("x", json: Event(happenedAt: 1)), try client.put("x").json(Event(happenedAt: 1))] {
            #expect(task.request.body.contentType == "application/json")
            #expect(task.request.body.bytes == Array(#"{"happened_at":1}"#.utf8))
        }
        #expect(
            try client.patch("x").json(Event(happenedAt: 1), encoder: JSONEncoder()).request.body.bytes
                == Array(#"{"happenedAt":1}"#.utf8))
    }
}
