import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A store that gets stuck", .leavesNothing, .timeLimit(.minutes(10)))
struct StuckStoreTests {
    @Test("is given up after a second, and the caller's body goes on", arguments: StuckStore.Step.allCases, [false, true])
    func givenUp(step: StuckStore.Step, streamed: Bool) async throws {
        let bench = CacheBench(store: StuckStore(step: step)) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1], [2]])),
                request: request)
        }
        let isDone = Locked(false)
        let body = Task {
            defer { isDone.withLock { $0 = true } }
            let request = HTTPRequest(CacheBench.url)
            let response = streamed ? try await bench.client.stream(request) : try await bench.client.send(request)
            return try await response.body.collect()
        }
        await eventually {
            if bench.timer.sleepers > 0 { bench.timer.advance(by: .seconds(1)) }
            return isDone.withLock { $0 }
        }
        #expect(try await body.value == [1, 2])
        #expect(bench.cache.statistics.stored == 0 && bench.cache.statistics.storeFailures > 0)
    }
}

/// A store that never gets done with one step of taking a body, until it is cancelled.
struct StuckStore: MemoryDecorator {
    enum Step: CaseIterable { case writing, committing, abandoning }

    let step: Step
    let base = MemoryCacheStore()

    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter { Writer(step: step) }

    private struct Writer: CacheWriter {
        let step: Step

        /// Nothing is abandoned but what couldn't be written.
        func write(_ bytes: [UInt8]) async throws { if step != .committing { try await untilCancelled() } }

        func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
            try await untilCancelled()
            return true
        }

        func abandon() async { if step == .abandoning { try? await untilCancelled() } }
    }
}
