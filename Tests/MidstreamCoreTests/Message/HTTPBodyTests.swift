import Foundation
import Interception
import MidstreamCore
import TestSupport
import Testing

@Suite("Bodies", .leavesNothing)
struct HTTPBodyTests {
    private func file(holding bytes: [UInt8]) throws -> URL {
        let url = temporaryPath("midstream-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        return url
    }

    @Test("no body")
    func empty() async throws {
        let body = HTTPBody.empty
        #expect(body.length == 0 && body.bytes == [] && body.replayability == .replayable)
        #expect(try await body.collect(upTo: 0) == [])
        #expect(HTTPBody.bytes([]).description == "no body")
    }

    @Test("bytes in memory can be read often")
    func bytes() async throws {
        let body = HTTPBody.bytes([1, 2, 3])
        #expect(body.length == 3 && body.bytes == [1, 2, 3] && body.replayability == .replayable)
        for _ in 1...2 { #expect(try await body.collect() == [1, 2, 3]) }
        #expect(body.contentType == nil)
    }

    @Test("a stream is made anew for each reading, and empty chunks are skipped")
    func stream() async throws {
        let body = HTTPBody.stream(length: 3) { chunks("a", "", "bc") }
        #expect(body.length == 3 && body.bytes == nil && body.replayability == .replayable)
        for _ in 1...2 {
            var read: [[UInt8]] = []
            for try await chunk in body { read.append(chunk) }
            #expect(read == [Array("a".utf8), Array("bc".utf8)])
        }
        #expect(HTTPBody.stream { chunks("a") }.length == nil)
    }

    @Test("a body that can be read once is read once")
    func once() async throws {
        let body = HTTPBody.once(chunks("a", "b"), length: 2)
        #expect(body.length == 2 && body.bytes == nil && body.replayability == .once)
        #expect(try await body.collect() == Array("ab".utf8))
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test("a length below nothing is unreadable", arguments: [-1, .min] as [Int64])
    func negativeLength(length: Int64) async {
        let bodies: [HTTPBody] = [.stream(length: length) { chunks("a") }, .once(chunks("a"), length: length)]
        for body in bodies {
            #expect(body.length == nil)
            #expect(await httpError { try await body.collect() }?.code == .bodyUnreadable)
        }
    }

    @Test("closing a body that wraps one that is arriving closes that one", arguments: 0..<5)
    func closingWrapped(kind: Int) async throws {
        let source = ArrivingBody()
        let arriving = HTTPBody.incoming(source)
        let body: HTTPBody =
            switch kind {
            case 0: .once(arriving)
            case 1: .stream { arriving }
            case 2: .once(HTTPBody.once(arriving))
            case 3: HTTPBody.once(arriving).mapChunks { $0 }
            default: HTTPBody.stream { arriving }.mapChunks { $0 }.observed(onChunk: { _ in }, onEnd: { _ in })
            }
        #expect(source.closings == 0)
        body.close()
        #expect(source.closings > 0)
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .connectionLost)
    }

    @Test("closing a body that can be read once lets go of what nobody has begun to read")
    func closingOnce() async throws {
        weak var source: ArrivingBody?
        let body: HTTPBody
        do {
            let arriving = ArrivingBody()
            source = arriving
            body = .once(HTTPBody.incoming(arriving).map { $0 + [0] })
        }
        #expect(source != nil)
        body.close()
        #expect(source == nil)
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .connectionLost)
    }

    @Test("a file is read in chunks, each time from its start")
    func file() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let url = try file(holding: bytes)
        defer { try? FileManager.default.removeItem(at: url) }
        let body = HTTPBody.file(url)
        #expect(body.length == 300_000 && body.bytes == nil && body.replayability == .replayable)
        for _ in 1...2 { #expect(try await body.collect() == bytes) }
        var sizes: [Int] = []
        for try await chunk in body { sizes.append(chunk.count) }
        #expect(sizes.count > 1 && sizes.reduce(0, +) == 300_000)
        var chunks = body.makeAsyncIterator()
        while try await chunks.next() != nil {}
        #expect(try await chunks.next() == nil)
    }

    @Test("a sequence that ends because its reader was cancelled isn't complete", arguments: [false, true])
    func cancelledSequence(isReplayable: Bool) async {
        let hasBegun = Locked(false)
        let chunks = AsyncStream<[UInt8]> { $0.yield([97]) }
        let body: HTTPBody = isReplayable ? .stream { chunks } : .once(chunks)
        let task = Task { for try await _ in body { hasBegun.withLock { $0 = true } } }
        await eventually { hasBegun.withLock { $0 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("an empty file is a body without chunks")
    func emptyFile() async throws {
        let url = try file(holding: [])
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(HTTPBody.file(url).length == 0)
        #expect(try await HTTPBody.file(url).collect() == [])
    }

    @Test("a file that can't be read says so", arguments: ["/nowhere/at/all", "/"])
    func unreadableFile(path: String) async {
        let body = HTTPBody.file(URL(fileURLWithPath: path))
        #expect(body.length == nil)
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .bodyUnreadable)
    }

    @Test("a pipe is no file: what is in it would be gone when it is sent again")
    func pipe() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("pipe")
        try #require(mkfifo(path.path, 0o600) == 0)
        let writer = try #require(FileHandle(forUpdatingAtPath: path.path))
        try writer.write(contentsOf: Data("abc".utf8))
        var chunks = HTTPBody.file(path).makeAsyncIterator()
        let error = await httpError { try await chunks.next() }
        #expect(error?.code == .bodyUnreadable)
        try writer.close()
        #expect(await httpError { try await HTTPBody.file(path).collect() }?.code == .bodyUnreadable)
    }

    @Test("a file that is cut while it is read isn't taken for the whole, whatever reads it", arguments: 0..<3)
    func cutFile(kind: Int) async throws {
        let folder = try TemporaryFolder()
        let url = try folder.file([UInt8](repeating: 97, count: 300_000))
        let body: HTTPBody =
            switch kind {
            case 0: .file(url)
            case 1: HTTPBody.file(url).mapChunks { $0 }
            default: .multipart([.file("film", url)])
            }
        var reading = body.makeAsyncIterator()
        // The first one of a form is a head.
        for _ in 1...2 { #expect(try await reading.next() != nil) }
        try FileHandle(forWritingTo: url).truncate(atOffset: 1_000)
        let error = await httpError { while try await reading.next() != nil {} }
        #expect(error?.code == .bodyUnreadable)
    }

    @Test("a file that grows while it is read is read to its new end")
    func grownFile() async throws {
        let folder = try TemporaryFolder()
        let url = try folder.file([UInt8](repeating: 97, count: 10))
        var reading = HTTPBody.file(url).makeAsyncIterator()
        #expect(try await reading.next()?.count == 10)
        try FileHandle(forWritingTo: url).truncate(atOffset: 15)
        #expect(try await reading.next()?.count == 5)
        #expect(try await reading.next() == nil)
    }

    @Test("collecting stops past its limit", arguments: [0, 1, 4])
    func limit(limit: Int) async {
        let arriving = ArrivingBody([[1, 2], [3, 4, 5]])
        let bodies = [
            HTTPBody.bytes([1, 2, 3, 4, 5]), .stream { chunks("ab", "cde") }, .stream(length: 5) { chunks("ab", "cde") },
            .once(chunks("abcde")), .incoming(arriving),
        ]
        for body in bodies {
            let error = await httpError { try await body.collect(upTo: limit) }
            #expect(error?.code == .bodyTooLarge)
        }
        #expect(arriving.closings == 1)
    }

    @Test("a body as long as the limit is collected")
    func exactLimit() async throws {
        #expect(try await HTTPBody.stream { chunks("ab", "cde") }.collect(upTo: 5).count == 5)
        #expect(try await HTTPBody.bytes([1, 2]).collect(upTo: 2).count == 2)
    }

    @Test("a length that was announced, however absurd, reserves no memory for itself", arguments: [Int64.max, 1 << 50, -5])
    func absurdLength(length: Int64) async throws {
        let body = HTTPBody.incoming(ArrivingBody([[1], [2]]), length: length)
        #expect(try await body.collect(upTo: .max) == [1, 2])
    }

    @Test("an arriving body is closed when reading it fails")
    func failingWhileCollecting() async {
        let arriving = ArrivingBody([[1]], thenThrowing: Failure())
        await #expect(throws: Failure()) { try await HTTPBody.incoming(arriving).collect() }
        #expect(arriving.closings == 1)
    }

    @Test("errors of the sequence pass through")
    func failingStream() async {
        let body = HTTPBody.stream { AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Failure("source")) } }
        await #expect(throws: Failure("source")) { try await body.collect() }
    }

    @Test("closing gives up what arrives and does nothing to any other body")
    func close() async throws {
        let arriving = ArrivingBody()
        let body = HTTPBody.incoming(arriving, length: 5)
        #expect(body.length == 5 && body.replayability == .once)
        body.close()
        #expect(arriving.closings == 1)
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .connectionLost)
        let bytes = HTTPBody.bytes([1])
        bytes.close()
        #expect(try await bytes.collect() == [1])
    }

    @Test("descriptions say what kind of body it is and nothing of its content")
    func descriptions() {
        let secret = "hush"
        let bodies: [HTTPBody] = [
            .text(secret), .stream { chunks("hush") }, .once(chunks("hush")), .incoming(ArrivingBody([Array(secret.utf8)])),
            .form([("a", secret)]),
        ]
        for body in bodies {
            var dumped = ""
            dump(body, to: &dumped)
            for text in [body.description, String(reflecting: body), dumped] { #expect(!text.contains(secret)) }
        }
        #expect("\(HTTPBody.text("abc"))" == "3 bytes")
    }
}
