import Interception
import MidstreamCore
import TestSupport
import Testing

@Suite("Bodies whose end is checked", .leavesNothing)
struct CheckedBodyTests {
    private func checked(_ body: HTTPBody, _ steps: Steps, failing: Bool = false) -> HTTPBody {
        body.checked {
            steps.note("begin")
            return BodyCheck {
                steps.note(String(decoding: $0, as: UTF8.self))
            } atEnd: { trailers in
                steps.note("end \(trailers?["X-Trailer"] ?? "")")
                if failing { throw Failure() }
            }
        }
    }

    @Test("Each reading is checked: its chunks, its end, the trailers")
    func readings() async throws {
        let steps = Steps()
        let stream = checked(.stream { chunks("a", "b") }, steps)
        for _ in 1...2 { #expect(try await stream.collect() == Array("ab".utf8)) }
        #expect(stream.replayability == .replayable)
        #expect(steps.all == ["begin", "a", "b", "end ", "begin", "a", "b", "end "])
        let others = Steps()
        let arriving = ArrivingBody()
        #expect(try await checked(.incoming(arriving, length: 5), others).collect() == Array("hello".utf8))
        #expect(others.all == ["begin", "hello", "end end"])
        #expect(checked(.incoming(ArrivingBody(), length: 5), others).length == 5)
        #expect(checked(.once(chunks("a")), others).replayability == .once)
        #expect(checked(.empty, others).bytes == [])
    }

    @Test("A refused end is an error, as often as it is asked for, and closes what arrives")
    func refusal() async throws {
        let arriving = ArrivingBody()
        for body: HTTPBody in [.incoming(arriving), .once(chunks("hello")), .stream { chunks("hello") }] {
            var iterator = checked(body, Steps(), failing: true).makeAsyncIterator()
            #expect(try await iterator.next() == Array("hello".utf8))
            for _ in 1...2 { await #expect(throws: Failure.self) { try await iterator.next() } }
        }
        #expect(arriving.closings > 0)
    }

    @Test("What the body throws passes, and its end isn't checked then")
    func failure() async {
        let steps = Steps()
        let body = checked(.incoming(ArrivingBody(thenThrowing: Failure("x"))), steps)
        await #expect(throws: Failure("x")) { try await body.collect() }
        #expect(steps.all == ["begin", "hello"])
    }

    @Test("Hashing a body that never waits ends when its task is cancelled")
    func cancelledDigest() async throws {
        let folder = try TemporaryFolder()
        let read = Locked(0)
        let body = HTTPBody.file(try folder.file([UInt8](repeating: 97, count: 1 << 20))).mapChunks { chunk in
            let count = read.increment()
            if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
            return chunk
        }
        let task = Task { try await body.digest(.sha256) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(read.withLock { $0 } == 2)
    }

    @Test("Closing closes the body")
    func closing() {
        let arriving = ArrivingBody()
        checked(.incoming(arriving), Steps()).close()
        #expect(arriving.closings == 1)
    }
}
