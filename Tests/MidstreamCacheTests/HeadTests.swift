import Interception
import MidstreamCache
import MidstreamCore
import TestSupport
import Testing

@Suite("HEAD and what is stored for GET", .leavesNothing, .timeLimit(.minutes(10)))
struct HeadTests {
    @Test("a validation behind the answer to a HEAD asks for the body, too")
    func validatedBehindHead() async throws {
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60"],
                body: request.method == .head ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let head = try await bench.get { $0.method = .head }
        #expect(head.isHit && head.cacheStatus?.ttl == -10)
        await eventually { bench.cache.statistics.stored == 2 }
        let later = try await bench.get()
        #expect(later.isHit && later.text == "one" && bench.sent == 2)
    }

    @Test("a tag that is weak for a GET and strong for a HEAD, as where a filter encodes, is the same")
    func weakForGet() async throws {
        let bench = CacheBench { request in
            let isHead = request.method == .head
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10", "ETag": isHead ? "\"a\"" : "W/\"a\""],
                body: isHead ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        _ = try await bench.get { $0.method = .head }
        let later = try await bench.get()
        #expect(later.isHit && later.text == "one" && bench.sent == 2)
    }

    @Test("what a HEAD learns with credentials that are added further in isn't told to others", arguments: [true, false])
    func headOfSomebody(isSomebodys: Bool) async throws {
        let inner = ClosureHTTPInterceptor(stage: .exchange) { request, next in
            var request = request
            if isSomebodys, request.method == .head { request.headers[.authorization] = "alice" }
            return try await next(request)
        }
        let bench = CacheBench(.private, [inner]) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""],
                body: request.method == .head ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        _ = try await bench.get { $0.method = .head }
        #expect(try await bench.get().isHit == !isSomebodys)
    }

    /// A server that answers once, with what may be used stale, and then as the closure does.
    private func bench(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async throws -> CacheBench {
        let isFirst = Locked(true)
        let bench = CacheBench { request in
            let isFirst = isFirst.lower()
            guard isFirst else { return try await respond(request) }
            let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-if-error=60"]
            return HTTPResponse(status: 200, headers: headers, body: .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        return bench
    }

    @Test("a stale head answers a HEAD in the place of an error where the server lets it", arguments: [true, false])
    func staleIfError(breaks: Bool) async throws {
        let bench = try await bench { request in
            if breaks { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 503, request: request)
        }
        let head = try await bench.get { $0.method = .head }
        #expect(head.status == 200 && head.text.isEmpty && head.headers["Age"] == "20")
        #expect(head.cacheStatus?.detail == "stale-if-error" && bench.sent == 2)
    }

    @Test("what is removed while the server is asked answers no HEAD")
    func removedMeanwhile() async throws {
        let gate = Gate()
        let bench = try await bench { request in
            await gate.wait()
            return HTTPResponse(status: 503, request: request)
        }
        let head = Task { try await bench.get { $0.method = .head } }
        await gate.reached()
        await bench.cache.removeAll()
        gate.open()
        #expect(try await head.value.status == 503)
    }
}
