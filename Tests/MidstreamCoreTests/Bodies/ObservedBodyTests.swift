import Foundation
import Interception
import MidstreamCore
import TestSupport
import Testing

/// What an observer was told, in order.
private final class Told: Sendable {
    private let events = Locked<[String]>([])

    var log: [String] { events.withLock { $0 } }
    var ends: [String] { log.filter { !$0.hasPrefix("+") } }

    func chunk(_ bytes: [UInt8]) { add("+" + String(decoding: bytes, as: UTF8.self)) }

    func end(_ end: HTTPBody.End) {
        switch end {
        case .complete(let trailers, let metrics):
            add("complete" + (trailers?["X-Trailer"].map { " " + $0 } ?? "") + (metrics == nil ? "" : " measured"))
        case .failed(is CancellationError): add("cancelled")
        case .failed(let error as HTTPError): add("failed \(error.code.rawValue)")
        case .failed: add("failed")
        case .closed: add("closed")
        case .released: add("released")
        }
    }

    private func add(_ event: String) { events.withLock { $0.append(event) } }

    func watch(_ body: HTTPBody) -> HTTPBody { body.observed(onChunk: chunk, onEnd: end) }
}

@Suite("Observed bodies", .leavesNothing)
struct ObservedBodyTests {
    private let told = Told()

    @Test("an arriving body tells its chunks, then its end with trailers and metrics, and stays what it is")
    func arriving() async throws {
        let source = ArrivingBody([Array("a".utf8), [], Array("bc".utf8)])
        let body = told.watch(HTTPBody.incoming(source, length: 3).withContentType("text/x"))
        #expect(body.length == 3 && body.contentType == "text/x" && body.replayability == .once && !body.isSpent)
        #expect(try await body.collect() == Array("abc".utf8))
        #expect(told.log == ["+a", "+bc", "complete end measured"])
        #expect(body.isSpent && body.incoming?.trailers?["X-Trailer"] == "end" && body.incoming?.metrics != nil)
        body.close()
        #expect(told.ends == ["complete end measured"])
    }

    @Test("an error is told and passed on")
    func failing() async {
        let body = told.watch(.incoming(ArrivingBody([[97]], thenThrowing: Failure())))
        await #expect(throws: Failure()) { try await body.collect() }
        #expect(told.log == ["+a", "failed"])
    }

    @Test("closing closes the source, and is the end also for one who waits")
    func closing() async throws {
        let source = ArrivingBody()
        let body = told.watch(.incoming(source))
        body.close()
        body.close()
        #expect(source.closings == 2 && told.log == ["closed"])
        #expect(await httpError { try await body.collect() }?.code == .connectionLost)
        #expect(told.log == ["closed"])
    }

    @Test("a chunk's observer may close the body; the end follows the chunk")
    func closingWhileTold() async throws {
        let held = Locked<HTTPBody?>(nil)
        let body = HTTPBody.incoming(ArrivingBody([[97], [98]])).observed {
            held.withLock { $0 }?.close()
            told.chunk($0)
        } onEnd: {
            told.end($0)
        }
        held.withLock { $0 = body }
        #expect(await httpError { try await body.collect() }?.code == .connectionLost)
        #expect(told.log == ["+a", "closed"])
        held.withLock { $0 = nil }
    }

    @Test("released unread or half-read, it says so, and lets its source go")
    func releasing() async throws {
        weak var released: ArrivingBody?
        do {
            let source = ArrivingBody()
            released = source
            _ = told.watch(.incoming(source))
        }
        #expect(told.log == ["released"] && released == nil)
        do {
            let body = told.watch(.incoming(ArrivingBody()))
            for try await _ in body { break }
            #expect(told.log == ["released", "+hello"])
        }
        #expect(told.log == ["released", "+hello", "released"])
    }

    @Test("a body that can be read once has one end, read or not")
    func once() async throws {
        do { _ = told.watch(.once(chunks("a"))) }
        #expect(told.log == ["released"])
        let body = told.watch(.once(chunks("a", "b"), length: 2))
        #expect(body.length == 2 && body.replayability == .once && !body.isSpent)
        do {
            var iterator = body.makeAsyncIterator()
            #expect(try await iterator.next() == [97])
        }
        // Its reader is gone, whoever else keeps the body.
        #expect(told.log == ["released", "+a", "released"] && body.isSpent)
        #expect(await httpError { try await body.collect() }?.code == .bodyNotReplayable)
        #expect(told.ends.count == 2)
    }

    @Test("a body that was read before it was observed is spent, and reading it is a failure")
    func spentBefore() async throws {
        let source = HTTPBody.once(chunks("a"))
        let body = told.watch(source)
        _ = try await source.collect()
        #expect(body.isSpent)
        #expect(await httpError { try await body.collect() }?.code == .bodyNotReplayable)
        #expect(told.log == ["failed bodyNotReplayable"])
    }

    @Test("a replayable body has an end for each reading, and none when nobody reads")
    func replayable() async throws {
        do { _ = told.watch(.stream { chunks("a") }) }
        #expect(told.log == [])
        let body = told.watch(.stream(length: 2) { chunks("a", "b") }.withContentType("text/x"))
        #expect(body.length == 2 && body.replayability == .replayable && body.contentType == "text/x")
        #expect(try await body.collect() == Array("ab".utf8))
        for try await _ in body { break }
        #expect(try await body.collect() == Array("ab".utf8))
        #expect(told.log == ["+a", "+b", "complete", "+a", "released", "+a", "+b", "complete"])
    }

    @Test("bytes in memory are told when they are read, as a stream of their length")
    func bytes() async throws {
        let body = told.watch(.text("ab"))
        #expect(body.bytes == nil && body.length == 2 && body.contentType?.hasPrefix("text/plain") == true)
        for _ in 1...2 { #expect(try await body.collect() == Array("ab".utf8)) }
        #expect(told.log == ["+ab", "complete", "+ab", "complete"])
    }

    @Test("a file's length is looked up when it is asked for")
    func file() async throws {
        let url = temporaryPath("midstream-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let body = told.watch(.file(url))
        #expect(body.length == nil)
        try Data("abc".utf8).write(to: url)
        #expect(body.length == 3)
        #expect(try await body.collect() == Array("abc".utf8))
        #expect(told.log == ["+abc", "complete"])
    }

    @Test("no body stays none, and has ended")
    func empty() {
        #expect(told.watch(.empty).bytes == [] && told.log == ["complete"])
        let text = told.watch(.text(""))
        #expect(text.bytes == [] && text.contentType != nil && told.log == ["complete", "complete"])
    }

    @Test("on arrival, what is in memory is told at once and stays there")
    func onArrival() async throws {
        let body = HTTPBody.text("ab").observedOnArrival(onChunk: told.chunk, onEnd: told.end)
        #expect(body.bytes == Array("ab".utf8) && told.log == ["+ab", "complete"])
        #expect(HTTPBody.empty.observedOnArrival(onChunk: told.chunk, onEnd: told.end).bytes == [])
        #expect(told.log == ["+ab", "complete", "complete"])
        let arriving = HTTPBody.incoming(ArrivingBody()).observedOnArrival(onChunk: told.chunk, onEnd: told.end)
        #expect(told.log.count == 3)
        _ = try await arriving.collect()
        #expect(told.log.suffix(2) == ["+hello", "complete end measured"])
    }

    @Test("a stream that ends because its reader was cancelled isn't complete")
    func cancelledStream() async throws {
        let body = told.watch(.stream { AsyncStream<[UInt8]> { $0.yield([97]) } })
        let task = Task { try await body.collect() }
        await eventually { told.log == ["+a"] }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(told.log == ["+a", "cancelled"])
    }
}
