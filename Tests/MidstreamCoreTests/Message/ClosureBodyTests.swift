import Interception
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCore

@Suite("A body that a transport of one's own receives", .leavesNothing, .timeLimit(.minutes(10)))
struct ClosureBodyTests {
    private let chunks: Locked<[[UInt8]]>
    private let closed = Locked(0)

    init() { chunks = Locked([[1], [2, 3]]) }

    private func body(failing: Bool = false) -> HTTPBody {
        let (chunks, closed) = (chunks, closed)
        var metrics = TransportMetrics()
        metrics.bytesReceived = 3
        return .incoming(length: 3) {
            try chunks.withLock { chunks in
                if chunks.isEmpty, failing { throw Failure() }
                return chunks.isEmpty ? nil : chunks.removeFirst()
            }
        } trailers: {
            ["X": "y"]
        } metrics: { [metrics] in
            metrics
        } close: {
            closed.withLock { $0 += 1 }
        }
    }

    @Test func itIsReadOnceAndHasWhatComesBehindIt() async throws {
        let body = body()
        #expect(body.length == 3 && body.replayability == .once)
        let ends = Locked<[HTTPBody.End]>([])
        let observed = body.observed { _ in
        } onEnd: { end in
            ends.withLock { $0.append(end) }
        }
        #expect(try await observed.collect() == [1, 2, 3])
        guard case .complete(let trailers, let metrics)? = ends.withLock({ $0.first }) else {
            Issue.record("The end isn't told.")
            return
        }
        #expect(trailers?["X"] == "y" && metrics?.bytesReceived == 3)
        body.close()
        #expect(closed.withLock { $0 } == 0)
    }

    @Test("a negative length, such as Foundation's -1, is one that isn't known")
    func negativeLength() {
        #expect(HTTPBody.incoming(length: -1, next: { nil }, close: {}).length == nil)
    }

    @Test("read to its end, it isn't empty for the next reader, who learns that the request was answered")
    func again() async throws {
        let body = body()
        #expect(try await body.collect() == [1, 2, 3])
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .bodyNotReplayable && error?.phase == .answered)
    }

    @Test("who comes while another waits gets an error, of which neither the source nor whoever watches learns")
    func twoReaders() async throws {
        let (gate, asked, ends) = (Gate(), Locked(0), Locked<[HTTPBody.End]>([]))
        let source = HTTPBody.incoming(
            next: {
                let count = asked.increment()
                if count == 1 { await gate.wait() }
                return count == 1 ? [1] : nil
            }, close: {})
        let body = source.observed { _ in
        } onEnd: { end in
            ends.withLock { $0.append(end) }
        }
        let first = Task { try await body.collect() }
        await gate.reached()
        var second = body.makeAsyncIterator()
        let errors = [await httpError { try await second.next() }, await httpError { for try await _ in body {} }]
        for error in errors { #expect(error?.code == .bodyNotReplayable && error?.phase == .answered) }
        gate.open()
        #expect(try await first.value == [1])
        guard case .complete? = ends.withLock({ $0.first }) else {
            Issue.record("The second reader's error is told as the end.")
            return
        }
        #expect(asked.withLock { $0 } == 2 && ends.withLock { $0.count } == 1)
    }

    @Test("the iterator that has come to the end stays there")
    func end() async throws {
        let body = body()
        var iterator = body.makeAsyncIterator()
        while try await iterator.next() != nil {}
        for _ in 1...2 {
            let (first, second) = (try await iterator.next(), try await iterator.next(isolation: nil))
            #expect(first == nil && second == nil)
        }
        #expect(await httpError { try await body.collect() }?.code == .bodyNotReplayable)
    }

    @Test("what isn't read to its end is given up once", arguments: [true, false])
    func close(isReleased: Bool) async throws {
        do {
            let body = body()
            var iterator = body.makeAsyncIterator()
            #expect(try await iterator.next() == [1])
            if !isReleased {
                body.close()
                let error = await httpError { try await iterator.next() }
                #expect(error?.code == .connectionLost)
            }
        }
        #expect(closed.withLock { $0 } == 1)
    }

    @Test("what ends because it is closed meanwhile isn't whole")
    func closeWhileItIsRead() async {
        let own = Locked<HTTPBody?>(nil)
        let body = HTTPBody.incoming(
            next: {
                own.withLock { $0.take() }?.close()
                return nil
            }, close: {})
        own.withLock { $0 = body }
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .connectionLost)
    }

    @Test func anErrorIsThrownToTheReader() async {
        await #expect(throws: Failure.self) { try await body(failing: true).collect() }
    }
}
