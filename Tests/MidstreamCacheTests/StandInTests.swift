import Foundation
import Interception
import MidstreamCache
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("What is stored for when the server gives no answer", .leavesNothing, .timeLimit(.minutes(10)))
struct StandInTests {
    @Test("isn't replaced by an error that has no more than a validator", arguments: [401, 429, 500])
    func errorWithTag(code: Int) async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "max-age=10", "ETag": "\"a\""], "one"), (HTTPStatus(code), ["ETag": "W/\"e\""], "error"),
        ])
        _ = try await bench.get()
        bench.clock.advance(20)
        #expect(try await bench.get().status.code == code)
        #expect(try await bench.get { $0.cache = .ignoringFreshness }.text == "one")
        #expect(try await bench.get().status.code == code)
        #expect(bench.stub.requests.last?.headers["If-None-Match"] == "\"a\"")
    }

    @Test("isn't replaced by what answers one request alone, however fresh that says it is", arguments: [428, 429, 431, 511])
    func freshError(code: Int) async throws {
        let bench = CacheBench(answers: [
            (200, ["Cache-Control": "max-age=10", "ETag": "\"a\""], "one"),
            (HTTPStatus(code), ["Cache-Control": "public, max-age=60", "ETag": "\"e\""], "error"),
        ])
        _ = try await bench.get()
        bench.clock.advance(20)
        for _ in 0..<2 { #expect(try await bench.get().status.code == code) }
        #expect(bench.sent == 3)
        #expect(try await bench.get { $0.cache = .ignoringFreshness }.text == "one")
    }

    @Test("answers once where it is validated meanwhile, and isn't what comes of that", arguments: [true, false])
    func validation(breaks: Bool) async throws {
        let isGone = Locked(false)
        let bench = CacheBench { request in
            guard isGone.withLock({ $0 }) else {
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60, stale-if-error=60"],
                    body: .text("one"), request: request)
            }
            if breaks { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 503, request: request)
        }
        _ = try await bench.get()
        isGone.withLock { $0 = true }
        bench.clock.advance(20)
        let stale = try await bench.get()
        await eventually { "\(stale.trace)".contains("the server meanwhile") }
        #expect(stale.text == "one" && bench.cache.statistics.stale == 1 && bench.sent == 2)
        #expect("\(stale.trace)".contains("failed to ask the server meanwhile: connection") == breaks)
    }
}
