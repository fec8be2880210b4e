import Interception
import MidstreamCore
import TestSupport
import Testing

@Suite("Mapped bodies")
struct MappedBodyTests {
    /// Doubles each byte.
    private let double: @Sendable ([UInt8]) async throws -> [UInt8] = { $0.flatMap { [$0, $0] } }

    @Test("chunks are transformed in each reading of a replayable body, whose length and media type are dropped")
    func replayable() async throws {
        let bodies = [HTTPBody.text("ab"), .stream(length: 2) { chunks("a", "b") }.withContentType("text/x")]
        for body in bodies {
            let mapped = body.mapChunks(double)
            #expect(mapped.length == nil && mapped.contentType == nil && mapped.replayability == .replayable)
            for _ in 1...2 { #expect(try await mapped.collect() == Array("aabb".utf8)) }
        }
        #expect(HTTPBody.text("ab").mapChunks(length: 4, double).length == 4)
    }

    @Test("no body stays none")
    func empty() {
        #expect(HTTPBody.text("").mapChunks(double).bytes == [])
        #expect(HTTPBody.empty.mapChunks(length: 7, double).length == 0)
    }

    @Test("nothing has a negative length")
    func negativeLength() async {
        for body in [HTTPBody.text("a"), .once(chunks("a")), .incoming(ArrivingBody([[97]]))] {
            #expect(await httpError { try await body.mapChunks(length: -1, double).collect() }?.code == .bodyUnreadable)
        }
    }

    @Test("what isn't as long as was said isn't taken for the whole", arguments: [1, 3])
    func wrongLength(length: Int64) async {
        for body in [HTTPBody.stream(length: length) { chunks("a", "b") }, .once(chunks("a", "b"), length: length)] {
            #expect(await httpError { try await body.mapChunks(double).collect() }?.code == .bodyUnreadable)
        }
    }

    @Test("a long body in memory passes in pieces, so that it can be paced")
    func pieces() async throws {
        let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let sizes = Locked<[Int]>([])
        let mapped = HTTPBody.bytes(bytes).mapChunks(length: 150_000) { chunk in
            sizes.withLock { $0.append(chunk.count) }
            return chunk
        }
        #expect(try await mapped.collect() == bytes)
        #expect(sizes.withLock { $0 } == [65_536, 65_536, 18_928])
    }

    @Test("whether bytes were changed is known through what is made of the body")
    func changed() async throws {
        func isTransformed(_ make: (HTTPBody) async throws -> HTTPBody) async throws -> Bool {
            let body = try await make(.incoming(ArrivingBody([[1], [2]])))
            #expect(!body.isTransformed)
            _ = try await body.collect()
            return body.isTransformed
        }
        #expect(try await isTransformed { $0.mapChunks { $0 == [1] ? $0 : [3] } })
        #expect(try await !isTransformed { $0.mapChunks { $0 } })
        let stopwatch = Stopwatch(on: ContinuousClock())
        #expect(
            try await isTransformed {
                let (_, body) = try await $0.mapChunks { $0 == [1] ? $0 : [3] }.prefix(upTo: 1)
                return body.observed { _ in
                } onEnd: { _ in
                }.checked { BodyCheck(onChunk: { _ in }, atEnd: { _ in }) }
                    .timed(until: .seconds(3_600), of: stopwatch) { HTTPError(.timeout) }
            })
        // Nobody knows of these before they are read.
        for body in [HTTPBody.stream { chunks("a") }, .once(chunks("a"))] {
            #expect(!body.isTransformed && !body.checked { BodyCheck(onChunk: { _ in }, atEnd: { _ in }) }.isTransformed)
            #expect(
                body.mapChunks { $0 }.observed { _ in
                } onEnd: { _ in
                }.isTransformed)
        }
    }

    @Test("an empty result is skipped")
    func emptyResult() async throws {
        var read: [[UInt8]] = []
        for try await chunk in HTTPBody.stream({ chunks("a", "b") }).mapChunks({ $0 == [97] ? [] : $0 }) { read.append(chunk) }
        #expect(read == [[98]])
    }

    @Test("a body that can be read once still can")
    func once() async throws {
        let source = HTTPBody.once(chunks("a"))
        let mapped = source.mapChunks(double)
        #expect(mapped.replayability == .once && !mapped.isSpent)
        #expect(try await mapped.collect() == [97, 97])
        #expect(mapped.isSpent && source.isSpent)
        #expect(await httpError { try await mapped.collect() }?.code == .bodyNotReplayable)
    }

    @Test("of an arriving body trailers, metrics and closing pass through")
    func arriving() async throws {
        let source = ArrivingBody([[1], [2]])
        let mapped = HTTPBody.incoming(source, length: 2).mapChunks(double)
        #expect(mapped.length == nil && mapped.replayability == .once && !mapped.isSpent)
        #expect(try await mapped.collect() == [1, 1, 2, 2])
        #expect(mapped.isSpent && mapped.incoming?.trailers?["X-Trailer"] == "end" && mapped.incoming?.metrics != nil)
        mapped.close()
        #expect(source.closings == 1)
    }

    @Test("what the transformation throws ends the reading for good, and closes what arrives")
    func throwing() async {
        let source = ArrivingBody([[1], [2]])
        let fail: @Sendable ([UInt8]) async throws -> [UInt8] = { if $0 == [2] { throw Failure() } else { $0 } }
        let mapped = HTTPBody.incoming(source).mapChunks(fail)
        await #expect(throws: Failure()) { for try await _ in mapped {} }
        #expect(source.closings == 1)
        await #expect(throws: Failure()) { for try await _ in mapped {} }
        var iterator = HTTPBody.bytes([2]).mapChunks(fail).makeAsyncIterator()
        for _ in 1...2 {
            do {
                _ = try await iterator.next()
                Issue.record("nothing was thrown")
            } catch { #expect(error is Failure) }
        }
    }

    @Test("a stream that ends because its reader was cancelled isn't complete")
    func cancelledStream() async {
        let isReading = Locked(false)
        let mapped = HTTPBody.stream { AsyncStream<[UInt8]> { $0.yield([97]) } }.mapChunks { chunk in
            isReading.withLock { $0 = true }
            return chunk
        }
        let task = Task { try await mapped.collect() }
        await eventually { isReading.withLock { $0 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("cancelling the reader cancels the transformation")
    func cancelling() async {
        let source = ArrivingBody()
        let begun = Locked(false)
        let mapped = HTTPBody.incoming(source).mapChunks { chunk in
            begun.withLock { $0 = true }
            try await untilCancelled()
            return chunk
        }
        let task = Task { try await mapped.collect() }
        await eventually { begun.withLock({ $0 }) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(source.closings >= 1)
    }
}
