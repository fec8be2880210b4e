import Dispatch
import Interception
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamStreams

@Suite("Lines of a body", .timeLimit(.minutes(10)))
struct BodyLinesTests {
    @Test("LF and CRLF end a line, in any pieces", arguments: 1...9)
    func ends(size: Int) async throws {
        let bytes = Array("one\r\ntwo\n\nthree\r\r\n\u{20AC}\nlast".utf8)
        let lines = try await Pieces(bytes, of: size).body.lines().all()
        #expect(lines == ["one", "two", "", "three\r", "€", "last"])
    }

    @Test("An end at the end begins no line, and no body has none")
    func noEmptyLine() async throws {
        #expect(try await HTTPBody.text("a\n").lines().all() == ["a"])
        #expect(try await HTTPBody.text("a\n\n").lines().all() == ["a", ""])
        #expect(try await HTTPBody.empty.lines().all() == [])
    }

    @Test("One byte order mark is dropped, and what isn't UTF-8 is replaced")
    func text() async throws {
        for size in 1...4 {
            let bytes: [UInt8] = [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 65, 10, 0xEF, 0xBB, 0xBF, 10, 0xC3, 10, 0xBC]
            let lines = try await Pieces(bytes, of: size).body.lines().all()
            #expect(
                lines.map { Array($0.utf8) } == [
                    [0xEF, 0xBB, 0xBF, 65], [0xEF, 0xBB, 0xBF], Array("\u{FFFD}".utf8), Array("\u{FFFD}".utf8),
                ])
        }
    }

    @Test("A line of the limit is read, a longer one closes the body", arguments: [1, 3, 100])
    func limit(size: Int) async throws {
        for end in ["\n", "\r\n"] {
            let body = ArrivingBody(Pieces(Array("12345\(end)123456\(end)".utf8), of: size).pieces)
            let (lines, error) = await outcome(of: HTTPBody.incoming(body).lines(upTo: 5))
            #expect(lines == ["12345"])
            #expect(error?.code == .bodyTooLarge)
            #expect(body.closings > 0)
        }
        let endless = ArrivingBody(Array(repeating: Array("12345".utf8), count: 10))
        #expect(await outcome(of: HTTPBody.incoming(endless).lines(upTo: 12)).1?.code == .bodyTooLarge)
        #expect(!endless.isRead)
    }

    @Test("A limit may be any number", arguments: 1...3)
    func anyLimit(size: Int) async throws {
        let body = Pieces(Array("one\r\ntwo\n\n".utf8), of: size).body
        #expect(try await body.lines(upTo: .max).all() == ["one", "two", ""])
        for limit in [0, -1, .min] { #expect(await outcome(of: body.lines(upTo: limit)).1?.code == .bodyTooLarge) }
    }

    @Test("An actor that reads lines isn't left for each of them")
    func isolation() async throws {
        try await expectStay(for: HTTPBody.text(String(repeating: "line\n", count: 1_000)).lines())
    }

    @Test("Another reader doesn't begin in the middle of a line")
    func secondReader() async throws {
        let body = HTTPBody.incoming(ArrivingBody([Array("a,b\n1,2\n3,".utf8), Array("4\n5,6\n".utf8)]))
        var first = body.lines().makeAsyncIterator()
        #expect(try await first.next() == "a,b")
        #expect(await httpError { try await body.lines().all() }?.code == .bodyNotReplayable)
        // Who came in vain hasn't closed it.
        #expect(try await first.next() == "1,2")
        #expect(try await first.next() == "3,4")
    }

    @Test("No reader goes on with a body that has been begun, but with one that is whole again")
    func begun() async throws {
        let readings: [(String, (HTTPBody) async throws -> Int)] = [
            ("1\n", { try await $0.lines().all().count }),
            ("1\n", { try await $0.jsonLines(Int.self).all().count }),
            ("\u{1E}1\n", { try await $0.jsonSequence(Int.self).all().count }),
            ("data: 1\n\n", { try await $0.events().all().count }),
        ]
        for (element, count) in readings {
            let arriving = { HTTPBody.incoming(ArrivingBody([Array(element.utf8), Array(element.utf8)])) }
            let begun = arriving()
            for try await _ in begun { break }
            #expect(await httpError { try await count(begun) }?.code == .bodyNotReplayable)
            let (_, whole) = try await arriving().prefix(upTo: 1)
            #expect(try await count(whole) == 2)
        }
    }

    @Test("An error of the body comes instead of the line that it cuts")
    func failure() async throws {
        let body = ArrivingBody([Array("a\nb".utf8)], thenThrowing: HTTPError(.connectionLost))
        var lines = HTTPBody.incoming(body).lines().makeAsyncIterator()
        #expect(try await lines.next() == "a")
        #expect(await httpError { try await lines.next() }?.code == .connectionLost)
        #expect(try await lines.next() == nil)
    }

    @Test("A reader that is cancelled gets no short line")
    func cancellation() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let seen = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var lines: [String] = []
            for try await line in HTTPBody.once(stream).lines() {
                lines.append(line)
                seen.continuation.yield()
            }
            return lines
        }
        continuation.yield(Array("a\nb".utf8))
        for await _ in seen.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

extension ArrivingBody {
    fileprivate var isRead: Bool { trailers != nil }
}
