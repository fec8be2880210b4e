import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A body that is stored while it is read", .leavesNothing, .timeLimit(.minutes(10)))
struct RecordingTests {
    @Test("tells what it comes from that a chunk of it hasn't come in time")
    func late() async throws {
        let source = ClosingBody()
        let bench = CacheBench { request in
            HTTPResponse(
                status: .partialContent,
                headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Range": "bytes 0-9/10"],
                body: .incoming(source), request: request)
        }
        // A part, which nobody shares.
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url, headers: ["Range": "bytes=0-9"]))
        response.body.close(late: HTTPError(.timeout, phase: .answered))
        #expect(source.closings.withLock { $0.first } == .some(.timeout))
    }

    @Test("isn't ended in the store while that takes bytes, though it is closed meanwhile", arguments: [true, false])
    func closedMeanwhile(boundsItsTime: Bool) async throws {
        let store = NotingStore(boundsItsTime: boundsItsTime)
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "3"],
                body: .incoming(ArrivingBody([[1], [2, 3]]), length: 3), request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        let reader = Task { try await response.body.collect() }
        await store.gate.reached()
        response.body.close()
        store.gate.open()
        _ = await reader.result
        await eventually { store.calls.withLock { $0.count } == 2 }
        #expect(store.calls.withLock { $0 } == ["written", "committed"])
        _ = try await bench.get()
        #expect(bench.stub.requests.last?.headers["Range"] == "bytes=1-")
    }

    @Test("is kept as far as it has come without the deadline of its reader")
    func deadlineOfAReader() async throws {
        let store = NotingStore(boundsItsTime: true)
        store.gate.open()
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "3"],
                body: .incoming(ArrivingBody([[1], [2], [3]]), length: 3), request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        func close() {
            var position = ChainPosition()
            position.deadline = 1
            ChainPosition.local.withValue(position) { response.body.close() }
        }
        for try await _ in response.body {
            close()
            break
        }
        await eventually { store.calls.withLock { $0.count } == 2 }
        #expect(store.deadlines.withLock { $0 } == [Int64.max])
        // Letting go of it is another end, which has no deadline to leave out here.
        withExtendedLifetime(response) {}
    }

    @Test(
        "isn't kept when it was refused, nor when nothing but its end is missing",
        arguments: [(1, .digestMismatch), (3, .digestMismatch), (3, .connectionLost)] as [(Int, HTTPError.Code)])
    func refused(count: Int, code: HTTPError.Code) async throws {
        let store = NotingStore(boundsItsTime: true)
        store.gate.open()
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "3"],
                body: .incoming(ArrivingBody((0..<count).map { [UInt8($0)] }, thenThrowing: HTTPError(code)), length: 3),
                request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        await #expect(throws: HTTPError.self) { try await response.body.collect() }
        await eventually { store.calls.withLock { $0.count } > count }
        #expect(store.calls.withLock { $0 } == Array(repeating: "written", count: count) + ["abandoned"])
    }

    /// What comes when a whole body is stored.
    enum Part: CaseIterable { case ofCutWhole, ofAnotherVersion, ofTheSameVersion }

    @Test("is kept as a part only if its bytes have passed as they are", arguments: [true, false], [true, false])
    func changedOnItsWay(isChanged: Bool, isCut: Bool) async throws {
        let store = NotingStore(boundsItsTime: true)
        store.gate.open()
        let bench = CacheBench(store: store) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": "3"]
            if !isCut { headers["Content-Range"] = "bytes 0-2/4" }
            let body = ArrivingBody(
                [[1], [2, 3]].dropLast(isCut ? 1 : 0), thenThrowing: isCut ? HTTPError(.connectionLost) : nil)
            return HTTPResponse(
                status: isCut ? 200 : 206, headers: headers,
                body: .incoming(body, length: 3).mapChunks(length: 3) { isChanged ? $0.map { $0 + 1 } : $0 }, request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url, headers: isCut ? [:] : ["Range": "bytes=0-2"]))
        _ = try? await response.body.collect()
        await eventually { store.calls.withLock { $0.last } != "written" }
        #expect(store.calls.withLock { $0.last } == (isChanged ? "abandoned" : "committed"))
    }

    @Test("isn't kept in the place of a whole one when it is a part", arguments: Part.allCases)
    func partAfterWhole(part: Part) async throws {
        let store = NotingStore(boundsItsTime: true)
        store.gate.open()
        let number = Locked(0)
        let bench = CacheBench(store: store) { request in
            let place = number.increment()
            guard place < 3 else { throw HTTPError(.connection, phase: .notSent) }
            var headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-if-error=600", "ETag": "\"1\""]
            if place == 1 { return HTTPResponse(status: 200, headers: headers, body: .text("0123456789"), request: request) }
            if part != .ofTheSameVersion { headers["ETag"] = "\"2\"" }
            if part != .ofCutWhole {
                headers["Content-Range"] = "bytes 0-3/10"
                return HTTPResponse(status: 206, headers: headers, body: .text("0123"), request: request)
            }
            headers["Content-Length"] = "10"
            let body = ArrivingBody([Array("0123".utf8)], thenThrowing: HTTPError(.connectionLost))
            return HTTPResponse(status: 200, headers: headers, body: .incoming(body, length: 10), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        var calls = ["written", "committed"]
        if part == .ofCutWhole {
            let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
            await #expect(throws: HTTPError.self) { try await response.body.collect() }
            calls += ["written", "abandoned"]
            await eventually { store.calls.withLock { $0.count } == 4 }
        } else {
            let response = try await bench.get(CacheBench.url, ["Range": "bytes=0-3"]) { request in
                if part == .ofTheSameVersion { request.cache = .reload }
            }
            #expect(response.status == 206 && response.cacheStatus?.isStored == false)
        }
        #expect(store.calls.withLock { $0 } == calls)
        #expect(try await bench.get().text == "0123456789")
        #expect(bench.sent == 3)
    }
}

/// A store that takes bytes when its gate is open, and notes what its writers have been called for.
final class NotingStore: MemoryDecorator {
    let gate = Gate()
    let calls = Locked<[String]>([])
    /// The deadlines under which it has been asked to keep something.
    let deadlines = Locked<[Int64?]>([])
    let boundsItsTime: Bool
    let base = MemoryCacheStore()

    init(boundsItsTime: Bool) { self.boundsItsTime = boundsItsTime }

    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        Writer(store: self, base: await base.writer(for: entry, at: offset))
    }

    private struct Writer: CacheWriter {
        let store: NotingStore
        let base: any CacheWriter

        func write(_ bytes: [UInt8]) async throws {
            await store.gate.wait()
            try await base.write(bytes)
            store.calls.withLock { $0.append("written") }
        }

        func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
            store.deadlines.withLock { $0.append(ChainPosition.current?.deadline) }
            let isStored = try await base.commit(entry, if: isCurrent)
            store.calls.withLock { $0.append("committed") }
            return isStored
        }

        func abandon() async {
            store.calls.withLock { $0.append("abandoned") }
            await base.abandon()
        }
    }
}
