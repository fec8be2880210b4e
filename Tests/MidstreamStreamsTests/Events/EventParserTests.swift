import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamStreams

@Suite("Event streams (WHATWG HTML §9.2.6)", .leavesNothing, .timeLimit(.minutes(10)))
struct EventParserTests {
    /// A stream with LF as its line ends, and what is in it.
    struct Example: Sendable, CustomTestStringConvertible {
        let stream: String
        let events: [ServerSentEvent]
        var retry: Int64?
        var lastID = ""
        var testDescription: String { stream.debugDescription }

        init(_ stream: String, _ events: [ServerSentEvent], retry: Int64? = nil, lastID: String? = nil) {
            self.stream = stream
            self.events = events
            self.retry = retry
            self.lastID = lastID ?? events.last?.id ?? ""
        }
    }

    static let examples: [Example] = [
        // Those of the standard.
        Example("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
        Example(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            [.init(data: "first event", id: "1"), .init(data: "second event")]),
        Example("data\n\ndata\ndata\n\ndata:\n", [.init(data: ""), .init(data: "\n")]),
        Example("data:test\n\ndata: test\n\n", [.init(data: "test"), .init(data: "test")]),
        Example(
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
            [.init(name: "add", data: "73857293"), .init(name: "remove", data: "2153")]),
        // What goes wrong elsewhere.
        Example("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [.init(data: "a")]),
        Example("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [.init(data: "b")]),
        Example("data: ü€😀\n\n", [.init(data: "ü€😀")]),
        Example("event: a\n\ndata: b\n\n", [.init(data: "b")]),
        Example("id: 7\n\ndata: a\n\n", [.init(data: "a", id: "7")]),
        Example("id: 7\n\nid: 8\n", [], lastID: "7"),
        Example("id: 1\0\nid: 2\ndata: a\n\nid: 3\0\ndata: b\n\n", [.init(data: "a", id: "2"), .init(data: "b", id: "2")]),
        Example("data: a\nid: x\n\nid:\ndata: b\n\n", [.init(data: "a", id: "x"), .init(data: "b")]),
        Example("retry: 250\nretry: 3 \nretry: -1\nretry:\nretry\nretry: +5\nretry: 1e3\n\n", [], retry: 250),
        Example("retry: 000\n\n", [], retry: 0),
        Example(
            "retry: 250\ndata: a\n\ndata: b\n\nretry: 7\n\ndata: c\n\n",
            [.init(data: "a"), .init(data: "b"), .init(data: "c")], retry: 7),
        Example("retry: 99999999999999999999999999\n\n", [], retry: 1_000_000_000_000),
        Example("Data: a\ndatum: b\n data: c\ndata : d\n:data: e\nfoo\ndata: f\n\n", [.init(data: "f")]),
        Example("data:a:b: c\n\n", [.init(data: "a:b: c")]),
        Example("\n\n\n", []),
        Example("data: a", []),
        Example("data: a\n", []),
        Example("", []),
    ]

    private func read(_ pieces: [[UInt8]]) throws -> ([ServerSentEvent], EventParser) {
        var parser = EventParser()
        var events: [ServerSentEvent] = []
        for piece in pieces {
            parser.add(piece)
            while let event = try parser.next() { events.append(event) }
        }
        return (events, parser)
    }

    @Test("An event tells how long to wait, as the server has said last")
    func retry() throws {
        let (events, _) = try read([Array("data: a\n\nretry: 250\n\ndata: b\n\ndata: c\nretry: 7\n\n".utf8)])
        #expect(events.map(\.retry) == [nil, .milliseconds(250), .milliseconds(7)])
    }

    @Test("The same events, wherever the stream is cut and however its lines end", arguments: examples)
    func cuts(example: Example) throws {
        for end in ["\n", "\r", "\r\n"] {
            let bytes = Array(example.stream.utf8.flatMap { $0 == 10 ? Array(end.utf8) : [$0] })
            for cut in 0...bytes.count {
                let (events, parser) = try read([Array(bytes[..<cut]), Array(bytes[cut...])])
                #expect(events == example.events, "cut at \(cut), lines end with \(end.debugDescription)")
                #expect(parser.retry == example.retry)
                #expect(parser.lastEventID == example.lastID)
            }
            #expect(try read(bytes.map { [$0] }).0 == example.events)
        }
    }

    @Test("Line ends may be mixed")
    func mixed() throws {
        let bytes = Array("data: a\r\n\rdata: b\n\r\ndata: c\r\rdata: d\n\n\r\n".utf8)
        for cut in 0...bytes.count {
            let (events, _) = try read([Array(bytes[..<cut]), Array(bytes[cut...])])
            #expect(events.map(\.data) == ["a", "b", "c", "d"])
        }
    }

    @Test("An event is there with its last CR, whatever comes then")
    func promptness() throws {
        #expect(try read([Array("data: a\r\r".utf8)]).0.map(\.data) == ["a"])
    }

    @Test("Bytes that aren't UTF-8 are replaced, within their line")
    func invalid() throws {
        let bytes = Array("data: a".utf8) + [0xE2, 0x82, 10] + Array("data: ".utf8) + [0xFF, 10, 10]
        for cut in 0...bytes.count {
            #expect(try read([Array(bytes[..<cut]), Array(bytes[cut...])]).0.map(\.data) == ["a\u{FFFD}\n\u{FFFD}"])
        }
    }

    @Test("What another connection brings goes on behind the last event")
    func startingOver() throws {
        var parser = EventParser()
        parser.add(Array("retry: 10\nid: 1\ndata: a\n\nid: 2\ndata: lost\nda".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "a", id: "1"))
        #expect(try parser.next() == nil)
        parser.startOver()
        #expect(parser.lastEventID == "1")
        #expect(parser.retry == 10)
        parser.add(Array("\u{FEFF}data: b\n\n".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "b", id: "1"))
    }

    @Test("Limits", arguments: [1, 4, 100])
    func limits(size: Int) async throws {
        func error(_ text: String) async -> (Int, HTTPError.Code?) {
            let (events, error) = await outcome(
                of: Pieces(Array(text.utf8), of: size).body.events(lineLimit: 10, eventLimit: 8))
            return (events.count, error?.code)
        }
        #expect(await error("data: 1234\n\n") == (1, nil))
        #expect(await error("data: 12345\n\n") == (0, .bodyTooLarge))
        #expect(await error(": 123456789") == (0, .bodyTooLarge))
        #expect(await error("data:123\ndata:123\n\ndata:1\n\n") == (2, nil))
        #expect(await error("data:123\ndata:1234\n\n") == (0, .bodyTooLarge))
    }

    @Test("An event may come in one line, by default too")
    func longLine() throws {
        var parser = EventParser()
        parser.add(Array("data: ".utf8) + [UInt8](repeating: 97, count: 8 << 20 - 1) + [10, 10])
        #expect(try parser.next()?.data.utf8.count == 8 << 20 - 1)
        #expect(EventLimits(event: .max).line == .max)
    }

    @Test("The events of a body; an error closes it and comes instead of the end")
    func body() async throws {
        #expect(try await HTTPBody.text("data: a\n\ndata: b\n\ndata: c\n").events().all().map(\.data) == ["a", "b"])
        let body = ArrivingBody([Array("data: a\n\n".utf8)], thenThrowing: HTTPError(.connectionLost))
        let (events, error) = await outcome(of: HTTPBody.incoming(body).events())
        #expect(events.map(\.data) == ["a"])
        #expect(error?.code == .connectionLost)
        #expect(body.closings == 1)
    }
}
