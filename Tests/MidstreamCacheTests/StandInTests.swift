import Foundation
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
}
