import Interception
import MidstreamCore
import TestSupport
import Testing

@Suite("The beginning of a body")
struct BodyPrefixTests {
    private func bodies() -> [HTTPBody] {
        [
            .text("abcde"), .stream(length: 5) { chunks("ab", "cde") }, .stream { chunks("ab", "cde") },
            .once(chunks("ab", "cde"), length: 5), .once(chunks("ab", "cde")),
            .incoming(ArrivingBody([Array("ab".utf8), Array("cde".utf8)])),
            .incoming(ArrivingBody([Array("ab".utf8), Array("cde".utf8)]), length: 5),
        ]
    }

    @Test("the first bytes are seen, and the body yields everything", arguments: [-1, 0, 1, 2, 3, 5, 6, .max])
    func prefix(count: Int) async throws {
        for body in bodies() {
            let typed = body.withContentType("text/x")
            let (prefix, whole) = try await typed.prefix(upTo: count)
            #expect(prefix == Array("abcde".utf8.prefix(max(0, count))))
            #expect(whole.length == body.length && whole.contentType == "text/x" && whole.replayability == body.replayability)
            #expect(!whole.isSpent)
            for _ in 1...(whole.replayability == .replayable ? 2 : 1) {
                #expect(try await whole.collect() == Array("abcde".utf8))
            }
            #expect(whole.isSpent == (whole.replayability == .once))
        }
    }

    @Test("twice is as good as once")
    func repeated() async throws {
        for body in bodies() {
            let (_, once) = try await body.prefix(upTo: 3)
            let (prefix, twice) = try await once.prefix(upTo: 4)
            #expect(prefix == Array("abcd".utf8))
            #expect(try await twice.collect() == Array("abcde".utf8))
        }
    }

    @Test("a body up to the limit comes into memory; a longer one yields everything", arguments: [-1, 0, 1, 2, 4, 5, 6, .max])
    func buffered(limit: Int) async throws {
        for body in bodies() {
            let buffered = try await body.withContentType("text/x").buffered(upTo: limit)
            #expect((buffered.bytes != nil) == (limit >= 5 || body.bytes != nil))
            #expect(buffered.contentType == "text/x" && (buffered.bytes != nil || buffered.length == body.length))
            #expect(try await buffered.collect() == Array("abcde".utf8))
        }
    }

    @Test("a body without bytes is none, however it comes")
    func empty() async throws {
        for body in [HTTPBody.empty, .stream { chunks() }, .once(chunks()), .incoming(ArrivingBody([]))] {
            #expect(try await body.buffered(upTo: 0).description == "no body")
        }
        let (prefix, body) = try await HTTPBody.incoming(ArrivingBody([])).prefix(upTo: 3)
        #expect(prefix.isEmpty)
        #expect(try await body.collect() == [])
    }

    @Test("of an arriving body trailers, metrics and closing pass through", arguments: [1, 2, 9])
    func arriving(count: Int) async throws {
        let source = ArrivingBody([[1], [2]])
        let (_, body) = try await HTTPBody.incoming(source).prefix(upTo: count)
        #expect(try await body.collect() == [1, 2])
        #expect(body.incoming?.trailers?["X-Trailer"] == "end" && body.incoming?.metrics != nil)
        body.close()
        #expect(source.closings == 1)
    }

    @Test("of an arriving body that was read to its end, it is read once as well")
    func again() async throws {
        let (_, body) = try await HTTPBody.incoming(ArrivingBody([[1], [2]])).prefix(upTo: 9)
        #expect(try await body.collect() == [1, 2])
        #expect(await httpError { try await body.collect() }?.code == .bodyNotReplayable)
    }

    @Test("closed before its end, it fails, even if its source has ended", arguments: [1, 9])
    func closing(count: Int) async throws {
        let source = ArrivingBody([[1], [2]])
        let (_, body) = try await HTTPBody.incoming(source).prefix(upTo: count)
        body.close()
        #expect(source.closings == 1)
        #expect(await httpError { try await body.collect() }?.code == .connectionLost)
    }

    @Test("closing it closes what a body that can be read once wraps, also while that is read", arguments: [true, false])
    func closingWrapped(hasBegun: Bool) async throws {
        let source = ArrivingBody([[1], [2]])
        let (_, body) = try await HTTPBody.once(HTTPBody.incoming(source)).prefix(upTo: 1)
        var reading = hasBegun ? body.makeAsyncIterator() : nil
        _ = try await reading?.next()
        body.close()
        #expect(source.closings == 1)
        #expect(await httpError { try await body.collect() } != nil)
    }

    @Test("a cancelled reader gets CancellationError, and the source is closed")
    func cancelling() async throws {
        let source = ArrivingBody([[1], [2]])
        let (_, body) = try await HTTPBody.incoming(source).prefix(upTo: 9)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.collect()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(source.closings >= 1)
    }

    @Test("what the source throws is thrown when it is reached")
    func failing() async throws {
        let source = ArrivingBody([[1], [2]], thenThrowing: Failure())
        await #expect(throws: Failure()) { try await HTTPBody.incoming(source).prefix(upTo: 3) }
        #expect(source.closings == 1)
        await #expect(throws: Failure()) {
            try await HTTPBody.incoming(ArrivingBody([[1]], thenThrowing: Failure())).buffered(upTo: 1)
        }
        let (prefix, body) = try await HTTPBody.incoming(ArrivingBody([[1]], thenThrowing: Failure())).prefix(upTo: 1)
        #expect(prefix == [1])
        await #expect(throws: Failure()) { try await body.collect() }
    }

    @Test("a body that was read has no beginning")
    func spent() async throws {
        let body = HTTPBody.once(chunks("a"))
        _ = try await body.collect()
        #expect(await httpError { try await body.prefix(upTo: 1) }?.code == .bodyNotReplayable)
        #expect(await httpError { try await body.buffered(upTo: 1) }?.code == .bodyNotReplayable)
    }

    @Test("an observed body is observed through it, to one end")
    func observed() async throws {
        for keeps in [true, false] {
            let ends = Locked(0)
            do {
                let body = HTTPBody.once(chunks("a", "b")).observed(onChunk: { _ in }, onEnd: { _ in ends.withLock { $0 += 1 } })
                let (_, whole) = try await body.prefix(upTo: 1)
                #expect(ends.withLock { $0 } == 0)
                if keeps { #expect(try await whole.collect() == Array("ab".utf8)) }
            }
            #expect(ends.withLock { $0 } == 1)
        }
    }
}
