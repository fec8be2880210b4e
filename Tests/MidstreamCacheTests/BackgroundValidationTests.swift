import Interception
import MidstreamCache
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Validations behind the answer", .leavesNothing, .timeLimit(.minutes(10)))
struct BackgroundValidationTests {
    @Test("the stale answer comes at once, one validation follows it, and its result is served")
    func staleWhileRevalidate() async throws {
        let gate = Gate()
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.increment() == 1
            if !isFirst { await gate.wait() }
            return HTTPResponse(
                status: 200,
                headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": isFirst ? "\"a\"" : "\"b\""],
                body: .text(isFirst ? "one" : "two"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let answered = try await bench.get()
        for stale in [answered, try await bench.get(), try await bench.get()] {
            #expect(stale.text == "one" && stale.isHit && stale.cacheStatus?.ttl == -10)
        }
        await gate.reached()
        #expect(bench.sent == 2 && bench.stub.requests.last?.headers["If-None-Match"] == "\"a\"")
        gate.open()
        await eventually { bench.cache.statistics.stored >= 2 }
        #expect(try await bench.get().text == "two")
        #expect(bench.sent == 2)
        // What came of it is told where it began.
        await eventually { answered.trace.events(named: "cache.outcome").count == 2 }
        let events = answered.trace.events(named: "cache.outcome")
        #expect(events.first?.attributes["hit"] == true && events.last?.attributes["forward"] == "stale")
    }

    @Test("after a validation that wants other credentials the next request waits for its own")
    func refusedWhileRevalidate() async throws {
        let bench = CacheBench { request in
            let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=600", "ETag": "\"a\""]
            if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 401, request: request) }
            return HTTPResponse(status: 200, headers: headers, body: .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let stale = try await bench.get()
        #expect(stale.isHit)
        await eventually { stale.trace.events(named: "cache.outcome").count == 2 }
        #expect(try await bench.get().status == .unauthorized)
    }

    @Test("a validation behind a stored part is one of that part, and fetches nothing else", arguments: ["GET", "HEAD"])
    func partWhileRevalidate(method: HTTPMethod) async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=600", "ETag": "\"a\""]
        let bench = CacheBench { request in
            if request.headers["If-None-Match"] == "\"a\"" {
                return HTTPResponse(status: 304, headers: headers, request: request)
            }
            var headers = headers
            headers["Content-Range"] = "bytes 0-4/1000"
            return HTTPResponse(status: 206, headers: headers, body: .text("01234"), request: request)
        }
        _ = try await bench.get(CacheBench.url, ["Range": "bytes=0-4"])
        bench.clock.advance(20)
        let ask: @Sendable () async throws -> HTTPResponse = {
            try await bench.get(CacheBench.url, ["Range": "bytes=0-4"]) { $0.method = method }
        }
        let stale = try await ask()
        #expect(stale.isHit && stale.cacheStatus?.ttl == -10)
        await eventually { stale.trace.events(named: "cache.outcome").count == 2 }
        let last = bench.stub.requests.last
        #expect(
            last?.headers["If-None-Match"] == "\"a\"" && last?.headers["Range"] == (method == .get ? "bytes=0-4" : "bytes=0-0"))
        let fresh = try await ask()
        #expect(fresh.isHit && fresh.cacheStatus?.ttl == 10 && bench.sent == 2)
    }

    @Test("a validation behind the answer doesn't read a body that isn't stored")
    func largeWhileRevalidate() async throws {
        let isLarge = Locked(false)
        let large = ArrivingBody([[1, 2, 3], [4, 5, 6]])
        let bench = CacheBench(options: { $0.maximumEntryBytes = 5 }) { request in
            let isLarge = isLarge.withLock { $0 }
            return HTTPResponse(
                status: 200,
                headers: [
                    "Cache-Control": "max-age=10, stale-while-revalidate=60", "Content-Length": isLarge ? "6" : "3",
                ], body: isLarge ? .incoming(large) : .text("one"), request: request)
        }
        _ = try await bench.get()
        isLarge.withLock { $0 = true }
        bench.clock.advance(20)
        let stale = try await bench.get()
        await eventually { stale.trace.events(named: "cache.outcome").count == 2 }
        // Closed, and not at its end.
        await #expect(throws: HTTPError.self) { try await large.next() }
    }

    @Test("a validation behind the answer that fails is told in the trace of the call that was answered")
    func failedValidation() async throws {
        let isGone = Locked(false)
        let bench = CacheBench { request in
            if isGone.withLock({ $0 }) { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60"], body: .text("x"),
                request: request)
        }
        _ = try await bench.get()
        isGone.withLock { $0 = true }
        bench.clock.advance(20)
        let stale = try await bench.get()
        await eventually { "\(stale.trace)".contains("failed to ask the server meanwhile: connection") }
        #expect(stale.isHit)
    }

    @Test("while 32 validations are under way, a further stale answer says that it isn't validated, and later it is")
    func noMorePlaces() async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            if request.headers["If-None-Match"] != nil { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"a\""],
                body: .text("x"), request: request)
        }
        let urls = (1...33).map { "http://cache.test/\($0)" }
        for url in urls { _ = try await bench.get(url) }
        bench.clock.advance(20)
        for url in urls.dropLast() {
            let stale = try await bench.get(url)
            #expect(stale.isHit && "\(stale.trace)".contains("stale for 10 s; validated meanwhile"))
        }
        let last = try await bench.get(urls[32])
        #expect(last.isHit && last.cacheStatus?.ttl == -10)
        #expect(!"\(last.trace)".contains("validated meanwhile") && "\(last.trace)".contains("isn't validated"))
        // That of another request is under way.
        let again = try await bench.get(urls[0])
        #expect("\(again.trace)".contains("validated meanwhile"))
        await eventually { bench.sent >= 65 }
        #expect(bench.sent == 65)
        gate.open()
        try await eventually { try await bench.get(urls[32]).cacheStatus?.ttl == 10 }
        #expect(bench.sent == 66)
    }

    @Test("a validation behind the answer ends with its client")
    func released() async throws {
        let wasCancelled = Gate()
        let isStalling = Locked(false)
        var bench: CacheBench? = CacheBench { request in
            if isStalling.withLock({ $0 }) {
                do { try await untilCancelled() } catch {
                    wasCancelled.open()
                    throw error
                }
            }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60"], body: .text("x"),
                request: request)
        }
        _ = try await bench?.get()
        isStalling.withLock { $0 = true }
        bench?.clock.advance(20)
        _ = try await bench?.get()
        await eventually { bench?.sent == 2 }
        bench = nil
        await wasCancelled.wait()
    }
}
