import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamStreams

private struct Order: Codable, Equatable, Sendable {
    let id: Int
    var name: String?
}

@Suite("JSON values in a body", .leavesNothing, .timeLimit(.minutes(10)))
struct JSONElementsTests {
    @MainActor
    @Test("types that are decodable on the main actor only are decoded there")
    func mainActor() async throws {
        var names: [String] = []
        for try await person in HTTPBody.text(#"{"name": "Ann"}"#).jsonLines(Person.self) { names.append(person.name) }
        for try await person in HTTPBody.text("\u{1E}{\"name\": \"Bob\"}\n").jsonSequence(Person.self) {
            names.append(person.name)
        }
        #expect(names == ["Ann", "Bob"])
    }

    @Test("One in each line; empty lines are skipped", arguments: [1, 2, 7, 1000])
    func lines(size: Int) async throws {
        let bytes = Array("{\"id\":1}\r\n\n  \t\r\n{\"id\":2,\"name\":\"ü\"}\n{\"id\":3}".utf8)
        let orders = try await Pieces(bytes, of: size).body.jsonLines(Order.self).all()
        #expect(orders == [Order(id: 1), Order(id: 2, name: "ü"), Order(id: 3)])
    }

    @Test("A bad line is told by its number and place, and not quoted")
    func badLine() async throws {
        let text = "{\"id\":1}\n\n{\"id\":\"secret\"}\n{\"id\":3}\n"
        let (orders, error) = await outcome(of: HTTPBody.text(text).jsonLines(Order.self))
        #expect(orders == [Order(id: 1)])
        #expect(error?.code == .decoding)
        #expect(error?.message == "Line 3, at byte 10, is no Order: id: expected Int.")
        #expect(error?.underlying is DecodingError)
    }

    @Test("Bad lines can be skipped, lines that are too long can't")
    func skipping() async throws {
        let text = "{\"id\":1}\nnonsense\n{\"id\":3}\n{\"id\":\n{\"id\":5}"
        let orders = try await HTTPBody.text(text).jsonLines(Order.self, skipsBadLines: true).all()
        #expect(orders.map(\.id) == [1, 3, 5])
        let (first, error) = await outcome(of: HTTPBody.text(text).jsonLines(Order.self, upTo: 7, skipsBadLines: true))
        #expect(first.isEmpty)
        #expect(error?.code == .bodyTooLarge)
    }

    @Test("An actor that reads values isn't left for each of them")
    func isolation() async throws {
        try await expectStay(for: HTTPBody.text(String(repeating: "1\n", count: 1_000)).jsonLines(Int.self))
        try await expectStay(for: HTTPBody.text(String(repeating: "\u{1E}1\n", count: 1_000)).jsonSequence(Int.self))
    }

    @Test("A response's lines are decoded with the decoder of its request or client")
    func configuredDecoder() async throws {
        struct Row: Decodable, Sendable { let fullName: String }
        let snakeCase = JSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let stub = StubTransport(status: .ok, body: "{\"full_name\":\"a\"}\n")
        let client = testClient(configuration: .init(decoder: snakeCase), transport: stub)
        #expect(try await client.stream(HTTPRequest("https://h/")).jsonLines(Row.self).all().map(\.fullName) == ["a"])
        var request = HTTPRequest("https://h/")
        request.decoder = JSONDecoder()
        let (rows, error) = await outcome(of: try await client.stream(request).jsonLines(Row.self))
        #expect(rows.isEmpty)
        #expect(error?.code == .decoding)
    }

    @Test("An error closes the body and ends the sequence")
    func end() async throws {
        let body = ArrivingBody([Array("x\n{\"id\":1}\n".utf8)])
        var orders = HTTPBody.incoming(body).jsonLines(Order.self).makeAsyncIterator()
        #expect(await httpError { try await orders.next() }?.code == .decoding)
        #expect(body.closings == 1)
        #expect(try await orders.next() == nil)
    }

    @Test("A JSON text sequence, in any pieces", arguments: [1, 2, 5, 1000])
    func sequence(size: Int) async throws {
        let bytes = Array(
            "\u{1E}{\"id\":\n1,\"name\":\"}\\\"\u{7D}\"}\n\u{1E}\u{1E} \n\u{1E}{\"id\":2}\n\n\u{1E}{\"id\":3}".utf8)
        let orders = try await Pieces(bytes, of: size).body.jsonSequence(Order.self).all()
        #expect(orders == [Order(id: 1, name: "}\"}"), Order(id: 2), Order(id: 3)])
        #expect(try await HTTPBody.text("\u{1E}1\n\u{1E}\"a\nb\"").jsonSequence(Int.self, skipsBadTexts: true).all() == [1])
        #expect(try await HTTPBody.empty.jsonSequence(Int.self).all() == [])
    }

    @Test("A text is handed out at its line end, before the next begins")
    func promptness() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(Array("\u{1E}{\"id\":1}\n".utf8))
        var orders = HTTPBody.once(stream).jsonSequence(Order.self).makeAsyncIterator()
        #expect(try await orders.next() == Order(id: 1))
    }

    @Test(
        "What is cut off, or no text, is an error or skipped",
        arguments: ["\u{1E}12", "\u{1E}{\"id\":1", "12\n", "\u{1E}1 \n2\n", "\u{1E}tru\u{1E}", "\u{1E}]\n", "\u{1E}[\"]\n"])
    func badTexts(text: String) async throws {
        let (_, error) = await outcome(of: HTTPBody.text(text).jsonSequence(Int.self))
        #expect(error?.code == .decoding)
        #expect(error?.message.hasPrefix("Text ") == true)
        let good = try await HTTPBody.text(text + "\u{1E}7\n").jsonSequence(Int.self, skipsBadTexts: true).all()
        #expect(good.last == 7)
    }

    @Test("Numbers and places of texts")
    func places() async throws {
        let (values, error) = await outcome(of: HTTPBody.text("\u{1E}1\n\u{1E}2\n\u{1E}x\n").jsonSequence(Int.self))
        #expect(values == [1, 2])
        #expect(error?.message.hasPrefix("Text 3, at byte 7, is no Int") == true)
        #expect(await outcome(of: HTTPBody.text("\u{1E}123456\n").jsonSequence(Int.self, upTo: 5)).1?.code == .bodyTooLarge)
    }
}

/// As a module has it whose declarations are the main actor's by default.
@MainActor private struct Person { var name: String }

extension Person: @MainActor Decodable {}
