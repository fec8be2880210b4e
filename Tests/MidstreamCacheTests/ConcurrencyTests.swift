import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("Many requests at once", .leavesNothing, .timeLimit(.minutes(10)))
struct ConcurrencyTests {
    /// Sends so many at once, and waits until all but one wait for that one.
    private func together(_ count: Int, _ bench: CacheBench, streamed: Bool = false) async throws -> [[UInt8]] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<count {
                group.addTask {
                    let request = HTTPRequest(CacheBench.url)
                    let response = streamed ? try await bench.client.stream(request) : try await bench.client.send(request)
                    return try await response.body.collect()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("one request is sent for all who miss the same", arguments: [false, true])
    func collapse(streamed: Bool) async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1], [2], [3]])),
                request: request)
        }
        let all = Task { try await together(1000, bench, streamed: streamed) }
        await gate.reached()
        await eventually { bench.cache.statistics.misses >= 1000 }
        gate.open()
        let bodies = try await all.value
        #expect(bodies.count == 1000 && bodies.allSatisfy { $0 == [1, 2, 3] })
        #expect(bench.sent == 1)
        #expect(bench.cache.statistics.collapsed + bench.cache.statistics.hits == 999)
    }

    @Test("what mayn't be shared lets all go at once, and isn't waited for again")
    func pass() async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(status: 200, headers: ["Cache-Control": "no-store"], body: .bytes([7]), request: request)
        }
        let all = Task { try await together(100, bench) }
        await gate.reached()
        await eventually { bench.cache.statistics.misses >= 100 }
        gate.open()
        #expect(try await all.value.count == 100)
        #expect(bench.sent == 100)
        let second = Gate()
        let again = CacheBench.url
        _ = second
        let role = bench.cache.role(for: again, now: bench.clock.now)
        guard case .passes = role else {
            Issue.record("the key isn't remembered")
            return
        }
        bench.clock.advance(121)
        if case .passes = bench.cache.role(for: again, now: bench.clock.now) {
            Issue.record("the key is remembered for too long")
        }
    }

    @Test("a request that another's answer doesn't fit is sent by itself")
    func otherVariant() async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Vary": "Foo"], body: .text(request.headers["Foo"] ?? ""),
                request: request)
        }
        async let first = bench.get(CacheBench.url, ["Foo": "1"])
        await gate.reached()
        async let second = bench.get(CacheBench.url, ["Foo": "2"])
        await eventually { bench.cache.statistics.misses >= 2 }
        gate.open()
        #expect(try await [first.text, second.text] == ["1", "2"])
        #expect(bench.sent == 2)
    }

    @Test("the fetch goes on for the others when its first caller leaves, and is cancelled when all have left")
    func leaving() async throws {
        let gate = Gate()
        let wasCancelled = Locked(0)
        let bench = CacheBench { request in
            try await withTaskCancellationHandler {
                await gate.wait()
                try Task.checkCancellation()
                return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
            } onCancel: {
                wasCancelled.withLock { $0 += 1 }
            }
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let second = Task { try await bench.get() }
        await eventually { bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value.text == "x")
        #expect(bench.sent == 1 && wasCancelled.withLock { $0 } == 0)
    }

    @Test("an error is everybody's")
    func error() async throws {
        let gate = Gate()
        let bench = CacheBench { _ in
            await gate.wait()
            throw HTTPError(.connection, phase: .notSent)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let second = Task { try await bench.get() }
        await eventually { bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 2 }
        gate.open()
        for task in [first, second] { await #expect(throws: HTTPError.self) { try await task.value } }
        #expect(bench.sent == 1)
    }

    @Test("who has waited for five seconds sends its own")
    func patience() async throws {
        let gate = Gate()
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
            if isFirst { await gate.wait() }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let second = Task { try await bench.get() }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(5))
        #expect(try await second.value.text == "x")
        gate.open()
        #expect(try await first.value.text == "x")
        #expect(bench.sent == 2)
    }

    @Test("each has its own five seconds")
    func patienceOfEach() async throws {
        let (first, others) = (Gate(), Gate())
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
            if isFirst { await first.wait() } else { await others.wait() }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let leader = Task { try await bench.get() }
        await first.reached()
        let early = Task { try await bench.get() }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(3))
        let late = Task { try await bench.get() }
        await eventually { bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 3 }
        bench.timer.advance(by: .seconds(2))
        await others.reached()
        // The other one has two more.
        #expect(bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 2)
        await bench.timer.waitForSleepers(1)
        #expect(bench.sent == 2)
        bench.timer.advance(by: .seconds(3))
        await others.reached(by: 2)
        #expect(bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 1)
        others.open()
        first.open()
        for task in [leader, early, late] { #expect(try await task.value.text == "x") }
        #expect(bench.sent == 3)
    }

    /// A server whose first answer waits for a gate, and a request that waits for that answer with an attempt's timeout of 200 ms.
    private func timedOut(
        _ control: String, streamed: Bool, stored: Bool = false
    ) async throws -> (result: Result<HTTPResponse, any Error>, bench: CacheBench) {
        let gate = Gate()
        let isHeld = Locked(!stored)
        let bench = CacheBench { request in
            if isHeld.withLock({ $0 }) { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": .init(control), "ETag": "\"a\""], body: .text("x"), request: request)
        }
        if stored {
            _ = try await bench.get()
            bench.clock.advance(20)
            isHeld.withLock { $0 = true }
        }
        let leader = Task { try await bench.get() }
        await gate.reached()
        let waiter = Task { [streamed] in
            var request = HTTPRequest(CacheBench.url)
            request.timeout = .milliseconds(200)
            return streamed ? try await bench.client.stream(request) : try await bench.client.send(request)
        }
        await eventually { bench.cache.waiting(for: CacheBench.url, now: bench.clock.now) == 2 }
        await bench.timer.waitForSleepers(2)
        bench.timer.advance(by: .milliseconds(200))
        let result = await waiter.result
        gate.open()
        _ = try await leader.value
        return (result, bench)
    }

    @Test("an attempt's timeout ends the wait for another's answer", arguments: [false, true])
    func timeout(streamed: Bool) async throws {
        let (result, bench) = try await timedOut("max-age=60", streamed: streamed)
        let error = #expect(throws: HTTPError.self) { try result.get() }
        #expect(error?.code == .timeout && error?.phase == .notSent)
        #expect(bench.sent == 1)
    }

    @Test("a stale response answers where an attempt's timeout ends that wait, if the server lets it")
    func staleAfterTimeout() async throws {
        let (result, bench) = try await timedOut("max-age=10, stale-if-error=60", streamed: false, stored: true)
        #expect(try result.get().text == "x")
        #expect(bench.sent == 2)
    }

    @Test("the stale answer comes at once, one validation follows it, and its result is served")
    func staleWhileRevalidate() async throws {
        let gate = Gate()
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
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
        await eventually { answered.trace.events(of: CallEvents.CacheOutcome.self).count == 2 }
        let events = answered.trace.events(of: CallEvents.CacheOutcome.self)
        #expect(events.first?.status.isHit == true && events.last?.status.forward == .stale)
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

    @Test("a stale response answers in the place of an error where the server lets it", arguments: [true, false])
    func staleIfError(breaks: Bool) async throws {
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
            if isFirst {
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=10, stale-if-error=60"], body: .text("one"), request: request
                )
            }
            if breaks { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 503, request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let stale = try await bench.get()
        #expect(stale.text == "one" && stale.headers["Age"] == "20")
        bench.clock.advance(60)
        if breaks {
            await #expect(throws: HTTPError.self) { try await bench.get() }
        } else {
            #expect(try await bench.get().status == 503)
        }
    }

    @Test("without leave nothing stale answers, also when the network is gone")
    func neverStale() async throws {
        let isGone = Locked(false)
        let bench = CacheBench { request in
            if isGone.withLock({ $0 }) { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=10"], body: .text("x"), request: request)
        }
        _ = try await bench.get()
        isGone.withLock { $0 = true }
        bench.clock.advance(20)
        await #expect(throws: HTTPError.self) { try await bench.get() }
    }

    @Test("a body that was fetched for many is let go of", arguments: [1, 2, 20])
    func fetchedBodyIsReleased(callers count: Int) async throws {
        let sources = Locked<[Weak]>([])
        let bench = CacheBench { request in
            let body = ArrivingBody([[1, 2, 3], [4, 5, 6]])
            sources.withLock { $0.append(Weak(body)) }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(body), request: request)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try await bench.client.stream(HTTPRequest(CacheBench.url)).body.collect() }
            }
            try await group.waitForAll()
        }
        await eventually { sources.withLock { $0.allSatisfy { $0.body == nil } } }
    }

    private struct Weak: Sendable {
        weak var body: ArrivingBody?
        init(_ body: ArrivingBody) { self.body = body }
    }

    @Test("a body that has come with its head is stored before it is read", arguments: [false, true])
    func arrived(inTwoStores: Bool) async throws {
        let store: any CacheStore = inTwoStores ? TieredStore(MemoryCacheStore(), MemoryCacheStore()) : MemoryCacheStore()
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivedBody([1, 2, 3])), request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        #expect(bench.cache.statistics.stored == 1 && response.cacheStatus?.isStored == true)
        #expect(response.trailers == ["X-Trailer": "end"] && response.metrics != nil)
        #expect(try await response.body.collect() == [1, 2, 3])
        let hit = try await bench.get()
        #expect(hit.isHit && hit.body.bytes == [1, 2, 3])
    }

    @Test("a body that mayn't be stored is left to its reader, and so is one that is still to come", arguments: [false, true])
    func left(isLate: Bool) async throws {
        let body = ArrivedBody([1, 2, 3], isLate: isLate)
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": isLate ? "max-age=60" : "no-store"], body: .incoming(body),
                request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        #expect(!body.isSpent && response.body.bytes == nil && bench.cache.statistics.stored == 0)
        #expect(try await response.body.collect() == [1, 2, 3])
        #expect(bench.cache.statistics.stored == (isLate ? 1 : 0))
    }

    @Test("who looked before another's answer was stored, and asks after it, is answered by it")
    func lookedBefore() async throws {
        let store = HeldStore()
        let bench = CacheBench(store: store) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .bytes([7]), request: request)
        }
        let first = Task { try await bench.get() }
        await store.gate.reached()
        #expect(try await !bench.get().isHit)
        store.gate.open()
        #expect(try await first.value.isHit && bench.sent == 1)
    }

    @Test("a caller that closes early leaves no whole entry")
    func closedEarly() async throws {
        let bench = CacheBench { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"],
                body: .incoming(ArrivingBody((0..<9999).map { _ in [UInt8](repeating: 1, count: 1000) })), request: request)
        }
        let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        response.body.close()
        #expect(try await !bench.get().isHit)
    }

    @Test("what is larger than an entry may be passes, and the caller notices nothing")
    func tooLarge() async throws {
        let bench = CacheBench(options: { $0.maximumEntryBytes = 5 }) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1, 2, 3], [4, 5, 6]])),
                request: request)
        }
        for _ in 0..<2 { #expect(try await bench.get().data.count == 6) }
        #expect(bench.sent == 2)
    }
}

extension CacheInterceptor {
    /// What a request for a URL would do.
    fileprivate func role(for url: String, now: Date) -> FetchBoard.Role {
        cache.board.role(for: CacheKey(url: url), lookingSince: nil, now: now, cache.store.removals)
    }

    /// How many wait for a URL's head, while it is being fetched.
    fileprivate func waiting(for url: String, now: Date) -> Int {
        if case .joins(let flight) = role(for: url, now: now) { flight.waiting } else { 0 }
    }
}
