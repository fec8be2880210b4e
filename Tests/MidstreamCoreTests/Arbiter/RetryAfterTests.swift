import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Retry-After", .leavesNothing)
struct RetryAfterTests {
    private let bench = ArbiterBench()
    private static let date: (HTTPHeaders.Name, String) = (.date, "Sun, 06 Nov 1994 08:49:37 GMT")

    /// The wait before the first retry after a response with this `Retry-After`.
    private func delay(
        _ value: String, status: HTTPStatus = 503, _ strategy: RetryStrategy = .delayed(.seconds(1)),
        cap: Duration = .seconds(60), age: String? = nil
    ) async -> Duration? {
        var headers: HTTPHeaders = [.retryAfter: value, Self.date.0: Self.date.1]
        headers[.age] = age
        let stub = StubTransport(sequence: [.respond(status, headers: headers), .respond(200)])
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry(strategy)]) { $0.maximumRetryAfter = cap }
        return await bench.waits(1, of: client).delays.first
    }

    @Test("E4 seconds are waited for", arguments: [HTTPStatus.tooManyRequests, .serviceUnavailable, 529])
    func seconds(status: HTTPStatus) async {
        #expect(await delay("7", status: status) == .seconds(7))
        #expect(await delay("0000000000008", status: status) == .seconds(8))
    }

    @Test(
        "E4 all three forms of a date are understood, by the server's own clock",
        arguments: [
            "Sun, 06 Nov 1994 08:49:47 GMT", "Sunday, 06-Nov-94 08:49:47 GMT", "Sun Nov  6 08:49:47 1994",
        ])
    func dates(value: String) async {
        #expect(await delay(value) == .seconds(10))
    }

    @Test("E4 the time for which a cache has kept the answer is over", arguments: ["7", "Sun, 06 Nov 1994 08:49:44 GMT"])
    func kept(value: String) async {
        #expect(await delay(value, age: "5") == .seconds(2))
        #expect(await delay(value, age: "4, 6") == .seconds(3))
        for age in ["7", "9", "9999999999"] { #expect(await delay(value, age: age) == .seconds(1)) }
        for age in ["", "-1", "5.0", "soon"] { #expect(await delay(value, age: age) == .seconds(7)) }
    }

    @Test("E4 without a Date the local clock is asked")
    func localClock() async {
        let stub = StubTransport(sequence: [
            .respond(503, headers: [.retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT"]), .respond(200),
        ])
        let client = bench.client(stub, maxRetries: 1, validators: [AlwaysRetry(.delayed(.seconds(1)))])
        #expect(await bench.waits(1, of: client).delays == [.seconds(60)])
    }

    @Test("E4 a date that has passed asks for nothing")
    func past() async {
        #expect(await delay("Sun, 06 Nov 1994 08:00:00 GMT") == .seconds(1))
    }

    @Test("E4 it is honoured up to the cap", arguments: ["61", "999999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func cap(value: String) async {
        #expect(await delay(value) == .seconds(60))
        #expect(await delay(value, cap: .seconds(5)) == .seconds(5))
        #expect(await delay(value, cap: .zero) == .seconds(1))
    }

    @Test(
        "E4 malformed values are ignored",
        arguments: [
            "", "-5", "1.5.0", "+5", "5s", "soon", "5, 6", "٥", "0x10", "Sun, 06 Nov 1994", "Sun, 36 Nov 1994 08:49:47 GMT",
        ])
    func malformed(value: String) async {
        #expect(await delay(value) == .seconds(1))
    }

    @Test("E4 it wins over a shorter delay only")
    func longerDelay() async {
        #expect(await delay("7", .delayed(.seconds(8))) == .seconds(8))
        #expect(await delay("7", .immediate) == .seconds(7))
        #expect(await delay("7", .exponential()) == .seconds(7))
        #expect(await delay("7", .fibonacci()) == .seconds(7))
        #expect(await delay("7", .custom { _ in .seconds(2) }) == .seconds(2))
        #expect(await delay("7", .afterTask(delay: .seconds(2)) { _ in }) == .seconds(7))
    }

    @Test("E4 of several fields the first counts")
    func severalFields() async {
        let busy = HTTPResponse(
            status: .serviceUnavailable, headers: [.retryAfter: "30", "retry-after": "2"], request: HTTPRequest("/"))
        #expect(busy.headers.values(.retryAfter) == ["30", "2"])
        #expect(busy.retryAfter { Date() } == .seconds(30))
    }

    @Test("E4 only 429 and 503 have one", arguments: [408, 500, 502, 504])
    func otherStatus(status: Int) async {
        #expect(await delay("7", status: HTTPStatus(status)) == .seconds(1))
    }

    @Test("E4 what the server asks for doesn't count as the delay before of decorrelated jitter")
    func decorrelated() async {
        let stub = StubTransport(sequence: [.respond(503, headers: [.retryAfter: "50"]), .respond(503), .respond(200)])
        let strategy = RetryStrategy.exponential(base: .seconds(1), jitter: .decorrelated)
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry(strategy)]) { $0.random = { 1 } }
        #expect(await bench.waits(2, of: client).delays == [.seconds(50), .seconds(9)])
    }
}
