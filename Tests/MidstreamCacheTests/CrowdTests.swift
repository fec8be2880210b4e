import Foundation
import Interception
import MidstreamCacheStore
import MidstreamCookies
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("Crowds that miss the same", .leavesNothing, .timeLimit(.minutes(10)))
struct CrowdTests {
    /// The store in memory, answering at once or not.
    private static func store(answersAtOnce: Bool) -> any CacheStore {
        let memory = MemoryCacheStore()
        return answersAtOnce ? memory : DecoratedStore(base: memory)
    }

    @Test("after a refusal of one request alone one of those who wait sends theirs, and the others wait on")
    func oneByOne() async throws {
        let (gates, number) = ([Gate(), Gate()], Locked(0))
        let bench = CacheBench { request in
            let place = number.increment() - 1
            if place < gates.count { await gates[place].wait() }
            if place == 0 { throw HTTPError(.rateLimited, phase: .notSent) }
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gates[0].reached()
        let others = (0..<3).map { _ in Task { try await bench.get() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        gates[0].open()
        await #expect(throws: HTTPError.self) { try await first.value }
        await gates[1].reached()
        gates[1].open()
        var woken = 0
        for other in others {
            let response = try await other.value
            #expect(response.body.text == "x")
            if "\(response.trace)".contains("which didn't come") { woken += 1 }
        }
        #expect(woken == 1 && bench.sent == 2)
    }

    @Test("one request is sent, whoever of them leaves, and nobody hangs", arguments: [true, false])
    func crowd(answersAtOnce: Bool) async throws {
        let gate = Locked(Gate())
        let bench = CacheBench(store: Self.store(answersAtOnce: answersAtOnce)) { request in
            await gate.withLock { $0 }.wait()
            for _ in 0..<20 { await Task.yield() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1], [2, 3]])),
                request: request)
        }
        var random = SeededGenerator(seed: 7)
        for round in 0..<300 {
            let (before, url, held) = (bench.sent, "\(CacheBench.url)/\(round)", Gate())
            gate.withLock { $0 = held }
            let callers = (0..<12).map { _ in Task { try await bench.get(url) } }
            // What those who have come so far have all left isn't for those who come then.
            await held.reached()
            await eventually { bench.cache.waiting(for: url) == 12 }
            // Never the same ones, and at least one stays to the end.
            for number in (0..<12).shuffled(using: &random).prefix(8) {
                if Bool.random(using: &random) { await Task.yield() }
                callers[number].cancel()
            }
            held.open()
            var answers = 0
            for caller in callers {
                do {
                    let response = try await caller.value
                    #expect(response.body.bytes == [1, 2, 3])
                    answers += 1
                } catch {
                    #expect(error is CancellationError)
                }
            }
            #expect(answers >= 4)
            #expect(bench.sent - before == 1, "round \(round)")
        }
    }

    @Test("those who stay read what arrives for a caller that has left")
    func leaderHasLeft() async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1], [2, 3]])),
                request: request)
        }
        let read = { @Sendable in try await bench.client.stream(HTTPRequest(CacheBench.url)).body.collect() }
        let first = Task { try await read() }
        await gate.reached()
        let others = (0..<3).map { _ in Task { try await read() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        for other in others { #expect(try await other.value == [1, 2, 3]) }
        #expect(bench.sent == 1)
    }

    @Test("of those who stay one takes the cookies that came for a caller that has left")
    func cookiesOfTheLeader() async throws {
        let (gate, jar) = (Gate(), CookieJar())
        let bench = CacheBench(options: { $0.partition = { _ in nil } }, [CookieInterceptor(jar)]) { request in
            await gate.wait()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Set-Cookie": "a=1"], body: .text("x"), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        let others = (0..<3).map { _ in Task { try await bench.get() } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        for other in others { #expect(try await other.value.headers["Set-Cookie"] == "a=1") }
        #expect(bench.sent == 1 && jar.cookies.map(\.value) == ["1"])
    }

    @Test("those cookies aren't lost with one who can't use the response")
    func cookiesForOthers() async throws {
        let (gate, jar) = (Gate(), CookieJar())
        let bench = CacheBench(options: { $0.partition = { _ in nil } }, [CookieInterceptor(jar)]) { request in
            await gate.wait()
            let language = request.headers["Accept-Language"] ?? ""
            return HTTPResponse(
                status: 200,
                headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language", "Set-Cookie": "\(language)=1"],
                body: .text("x"), request: request)
        }
        let leader = Task { try await bench.get(CacheBench.url, ["Accept-Language": "de"]) }
        await gate.reached()
        var callers: [Task<HTTPResponse, any Error>] = []
        for language in ["en", "de"] {
            callers.append(Task { try await bench.get(CacheBench.url, ["Accept-Language": language]) })
            await eventually { bench.cache.waiting(for: CacheBench.url) == callers.count + 1 }
        }
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        gate.open()
        for caller in callers { #expect(try await caller.value.text == "x") }
        #expect(bench.sent == 2 && Set(jar.cookies.map(\.name)) == ["de", "en"])
    }

    /// A request whose caller finds fault with any response.
    private static var refusing: HTTPRequest {
        var request = HTTPRequest(CacheBench.url)
        request.validators = [CallbackValidator { _, _ in .fail(Failure()) }]
        return request
    }

    @Test("those who stay read what arrives for a caller that refuses it")
    func leaderRefuses() async throws {
        let (gate, isRefused) = (Gate(), Gate())
        let bench = CacheBench { request in
            await gate.wait()
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .incoming(ArrivingBody([[1], [2, 3]])),
                request: request)
        }
        let first = Task { try await bench.client.stream(Self.refusing).status }
        await gate.reached()
        let others = (0..<3).map { _ in
            Task {
                let response = try await bench.client.stream(HTTPRequest(CacheBench.url))
                await isRefused.wait()
                return try await response.body.collect()
            }
        }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        gate.open()
        await #expect(throws: Failure.self) { try await first.value }
        isRefused.open()
        for other in others { #expect(try await other.value == [1, 2, 3]) }
        #expect(bench.sent == 1)
    }

    @Test("what a refused response was made of is closed where nobody else may have it")
    func refusedAlone() async throws {
        let body = ArrivingBody()
        let replacing = ClosureHTTPInterceptor(stage: .exchange) { request, next in
            var response = try await next(request)
            response.body = .text("made of it")
            return response
        }
        let bench = CacheBench(.private, [replacing]) { request in
            HTTPResponse(status: 200, headers: ["Cache-Control": "no-store"], body: .incoming(body), request: request)
        }
        await #expect(throws: Failure.self) { try await bench.client.stream(Self.refusing) }
        #expect(body.closings > 0)
    }

    @Test(
        "while the server is gone one request is sent for all, and each gets the stale response that it may have",
        arguments: [true, false])
    func staleForEach(serverLets: Bool) async throws {
        let gate = Gate()
        let isGone = Locked(false)
        let bench = CacheBench { request in
            if isGone.withLock({ $0 }) {
                await gate.wait()
                throw HTTPError(.connection, phase: .notSent)
            }
            let control = serverLets ? "max-age=10, stale-if-error=60" : "max-age=10"
            return HTTPResponse(status: 200, headers: ["Cache-Control": control], body: .text("x"), request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        isGone.withLock { $0 = true }
        let first = Task { try await bench.get() }
        await gate.reached()
        let others = (0..<3).map { _ in Task { try await bench.get(CacheBench.url, ["Cache-Control": "stale-if-error=60"]) } }
        await eventually { bench.cache.waiting(for: CacheBench.url) == 4 }
        gate.open()
        if serverLets {
            #expect(try await first.value.text == "x")
        } else {
            await #expect(throws: HTTPError.self) { try await first.value }
        }
        for other in others { #expect(try await other.value.text == "x") }
        #expect(bench.sent == 2)
    }

    @Test("a server that takes eight seconds gets two requests of two hundred callers")
    func herd() async throws {
        let (gates, number) = ([Gate(), Gate(), Gate()], Locked(0))
        let bench = CacheBench { request in
            let place = min(number.increment() - 1, 2)
            await gates[place].wait()
            return HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], body: .text("\(place)"), request: request)
        }
        let callers = (0..<200).map { _ in Task { try await bench.get() } }
        await gates[0].reached()
        await eventually { bench.cache.waiting(for: CacheBench.url) == 200 }
        await bench.timer.waitForSleepers(1)
        bench.timer.advance(by: .seconds(5))
        await gates[1].reached()
        #expect(bench.sent == 2)
        bench.timer.advance(by: .seconds(3))
        gates[0].open()
        for caller in callers { #expect(try await caller.value.text == "0") }
        #expect(bench.sent == 2)
        gates[1].open()
    }
}
