import Foundation
import Interception
import Midstream
import MidstreamCacheStore
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

    @Test("an entry that another request replaces while it is validated is no failure of the store")
    func replacedMeanwhile() async throws {
        let reload = Locked<(@Sendable () async throws -> Void)?>(nil)
        let bench = CacheBench { request in
            let isValidation = request.headers["If-None-Match"] != nil
            if isValidation { try await reload.withLock { $0.take() }?() }
            return HTTPResponse(
                status: isValidation ? 304 : 200, headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""],
                body: isValidation ? .empty : .text("one"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        reload.withLock { $0 = { _ = try await bench.get { $0.cache = .reload } } }
        let response = try await bench.get()
        #expect(response.text == "one" && bench.cache.statistics.storeFailures == 0)
        #expect(!response.trace.description.contains("store failed"))
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
        let again = CacheBench.url
        let role = bench.cache.role(for: again)
        guard case .passes = role else {
            Issue.record("the key isn't remembered")
            return
        }
        bench.clock.advance(121)
        if case .passes = bench.cache.role(for: again) {
            Issue.record("the key is remembered for too long")
        }
    }

    @Test(
        "who wants the server, or more than is left, takes no answer to another's request",
        arguments: ["no-cache", "min-fresh=61"])
    func wish(directive: String) async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .bytes([7]), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let second = Task { try await bench.get(CacheBench.url, ["Cache-Control": directive]) }
        await eventually { bench.cache.statistics.misses >= 2 }
        gate.open()
        _ = try await (first.value, second.value)
        #expect(bench.sent == 2 && bench.cache.statistics.collapsed == 0)
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
        await eventually { bench.cache.waiting(for: CacheBench.url) == 2 }
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
        await eventually { bench.cache.waiting(for: CacheBench.url) == 2 }
        gate.open()
        for task in [first, second] { await #expect(throws: HTTPError.self) { try await task.value } }
        #expect(bench.sent == 1)
    }

    @Test(
        "what is refused for one request alone is its own",
        arguments: [HTTPError.Code.overloaded, .rateLimited, .invalidRequest])
    func refusal(code: HTTPError.Code) async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            guard request.headers["X-Who"] == nil else {
                await gate.wait()
                throw HTTPError(code, phase: .notSent)
            }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get(CacheBench.url, ["X-Who": "prefetch"]) }
        await gate.reached()
        let second = Task { try await bench.get() }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 2 }
        gate.open()
        await #expect(throws: HTTPError.self) { try await first.value }
        #expect(try await second.value.text == "x")
    }

    /// A bench whose requests wait, each for a gate of its own, and then name themselves.
    private func gated(_ gates: [Gate], patience: Duration? = nil, control: String = "max-age=60") -> CacheBench {
        let number = Locked(0)
        return CacheBench(options: { if let patience { $0.patience = patience } }) { request in
            let place = number.increment() - 1
            await gates[place].wait()
            try Task.checkCancellation()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": .init(control)], body: .text("\(place)"), request: request)
        }
    }

    @Test("when patience ends one of those who wait sends another request, whose response answers all", arguments: [nil, 30])
    func patience(seconds: Int?) async throws {
        let gates = [Gate(), Gate()]
        let bench = gated(gates, patience: seconds.map { .seconds($0) })
        let first = Task { try await bench.get() }
        await gates[0].reached()
        let others = (0..<3).map { _ in Task { try await bench.get() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(seconds ?? 5) - .nanoseconds(1))
        #expect(bench.sent == 1 && bench.cache.waiting(for: CacheBench.url) == 4)
        bench.timer.advance(by: .nanoseconds(1))
        await gates[1].reached()
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        gates[1].open()
        let answers = [try await first.value.text, try await others[0].value.text, try await others[2].value.text]
        #expect(answers == ["1", "1", "1"] && bench.sent == 2)
        // The first request was cancelled.
        gates[0].open()
    }

    @Test("patience begins anew with each request")
    func patienceAgain() async throws {
        let gates = [Gate(), Gate(), Gate()]
        let bench = gated(gates)
        let callers = (0..<3).map { _ in Task { try await bench.get() } }
        await gates[0].reached()
        for sent in 1...2 {
            await eventually { bench.cache.waiting(for: CacheBench.url) == 3 }
            await bench.timer.waitForSleepers(1)
            bench.timer.advance(by: .seconds(5))
            await gates[sent].reached()
        }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 3 && bench.timer.sleepers == 0 }
        #expect(bench.sent == 3, "everybody has sent one")
        gates[1].open()
        for caller in callers { #expect(try await caller.value.text == "1") }
        for gate in gates { gate.open() }
    }

    @Test("a response that mayn't be shared is its own caller's, and lets go of those who have sent none")
    func patienceForNothing() async throws {
        let gates = (0..<4).map { _ in Gate() }
        let bench = gated(gates, control: "no-store")
        let callers = (0..<3).map { _ in Task { try await bench.get().text } }
        await gates[0].reached()
        await eventually { bench.cache.waiting(for: CacheBench.url) == 3 }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(5))
        await gates[1].reached()
        gates[0].open()
        // The third one goes by itself.
        await gates[2].reached()
        for gate in gates { gate.open() }
        var texts: [String] = []
        for caller in callers { texts.append(try await caller.value) }
        #expect(texts.sorted() == ["0", "1", "2"] && bench.sent == 3)
    }

    @Test("of several requests one that fails is its own caller's loss")
    func patienceAfterAnError() async throws {
        let gates = [Gate(), Gate()]
        let number = Locked(0)
        let bench = CacheBench { request in
            let place = number.increment() - 1
            await gates[place].wait()
            if place == 0 { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gates[0].reached()
        let others = (0..<2).map { _ in Task { try await bench.get() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 3 }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(5))
        await gates[1].reached()
        gates[0].open()
        await #expect(throws: HTTPError.self) { try await first.value }
        gates[1].open()
        for other in others { #expect(try await other.value.text == "x") }
        #expect(bench.sent == 2)
    }

    @Test(
        "when a request ends by its caller's own timeout, or by what its client may not or can't do, one of the others sends the next",
        arguments: [
            HTTPError(.timeout, phase: .maybeProcessed), HTTPError(.forbiddenDestination, phase: .notSent), .transportClosed,
        ])
    func failureOfTheFirst(error: HTTPError) async throws {
        let gate = Gate()
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.increment() == 1
            await gate.wait()
            if isFirst { throw error }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let others = (0..<20).map { _ in Task { try await bench.get() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 21 }
        gate.open()
        await #expect(throws: HTTPError.self) { try await first.value }
        for other in others { #expect(try await other.value.text == "x") }
        #expect(bench.sent == 2)
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
        await eventually { bench.cache.waiting(for: CacheBench.url) == 2 }
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

    @Test("a stale response answers in the place of an error where the server lets it", arguments: [true, false])
    func staleIfError(breaks: Bool) async throws {
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.increment() == 1
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

    @Test("a body that has come with its head is stored before it is read", arguments: [false, true], [false, true])
    func arrived(inTwoStores: Bool, isLimited: Bool) async throws {
        let store: any CacheStore = inTwoStores ? TieredStore(MemoryCacheStore(), MemoryCacheStore()) : MemoryCacheStore()
        let bench = CacheBench(store: store, isLimited ? [ConcurrencyLimit()] : []) { request in
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
        #expect(bench.cache.statistics.hits == 1 && bench.cache.statistics.misses == 1)
    }

    @Test("what is stored while another looks for it is fresh to that one")
    func storedDuringLookup() async throws {
        let store = HeldStore(looksLate: true)
        let bench = CacheBench(store: store) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .bytes([7]), request: request)
        }
        let first = Task { try await bench.get { $0.cache = .onlyIfCached } }
        await store.gate.reached()
        bench.clock.advance(0.1)
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

    @Test("what announces that it is too large isn't said to be stored", arguments: [true, false])
    func tooLargeAnnounced(isArriving: Bool) async throws {
        let bench = CacheBench(options: { $0.maximumEntryBytes = 5 }) { request in
            HTTPResponse(
                status: 200,
                headers: isArriving ? ["Cache-Control": "max-age=60", "Content-Length": "6"] : ["Cache-Control": "max-age=60"],
                body: isArriving ? .incoming(ArrivingBody([[1, 2, 3], [4, 5, 6]])) : .bytes([1, 2, 3, 4, 5, 6]), request: request)
        }
        let response = try await bench.get()
        #expect(response.data.count == 6 && response.cacheStatus?.isStored == false)
        #expect("\(response.trace)".contains("isn't stored: larger than an entry may be"))
        #expect(!"\(response.trace)".contains("stored, fresh"))
    }

    @Test("what empties the cache isn't said to be stored")
    func clearing() async throws {
        let bench = CacheBench { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60", "Clear-Site-Data": "\"cache\""], request: request)
        }
        let response = try await bench.get()
        #expect(response.cacheStatus?.isStored == false && !"\(response.trace)".contains("stored, fresh"))
    }
}

extension CacheInterceptor {
    /// The part that a request for a URL would have.
    fileprivate func role(for url: String) -> CollapsedRequests.Role {
        cache.collapsed.role(for: CacheKey(url: url), lookingSince: nil)
    }

    /// How many wait for a URL's head, while it is being fetched.
    func waiting(for url: String) -> Int {
        if case .joins(let fetch) = role(for: url) { fetch.waiting } else { 0 }
    }
}
