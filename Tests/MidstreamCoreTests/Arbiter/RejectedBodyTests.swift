import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// The body of a response that was to be streamed and is rejected.
@Suite("A rejected response is read before the error is thrown", .leavesNothing, .timeLimit(.minutes(10)))
struct RejectedBodyTests {
    private struct Problem: Decodable, Equatable {
        let reason: String
    }

    private func client(
        _ status: HTTPStatus, maxRetries: Int = 0, clock: any Clock<Duration> = TestClock(),
        _ body: @escaping @Sendable () -> HTTPBody
    ) -> HTTPClient {
        testClient(
            baseURL: "https://h", configuration: .init(timeout: .seconds(5), maxRetries: maxRetries, clock: clock),
            transport: StubTransport { HTTPResponse(status: status, body: body(), request: $0) })
    }

    private static let json = #"{"reason": "none left"}"#

    @Test func itsErrorHasTheBody() async throws {
        let client = client(.notFound) { .stream { AsyncStream(chunks: Self.json.utf8.map { [$0] }) } }
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data(Self.json.utf8))
        #expect(try error?.decode(Problem.self) == Problem(reason: "none left"))
    }

    @Test func soHasTheOneBehindExhaustedRetries() async throws {
        let bench = ArbiterBench()
        let client = bench.client(
            StubTransport { HTTPResponse(status: 503, body: .once(AsyncStream(chunks: [Array(Self.json.utf8)])), request: $0) },
            maxRetries: 1, validators: [AlwaysRetry()])
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(error?.code == .retriesExhausted && error?.cause == .unacceptableStatus)
        #expect(try error?.decode(Problem.self) == Problem(reason: "none left"))
        #expect((error?.underlying as? HTTPError)?.response?.data == Data(Self.json.utf8))
    }

    @Test func soHasThatOfARequestThatAnInterceptorHasMadeAnew() async {
        let stub = StubTransport {
            HTTPResponse(status: 500, body: .once(AsyncStream(chunks: [Array(Self.json.utf8)])), request: $0)
        }
        let client = ArbiterBench().client(stub) { _ in
        } interceptors: {
            ClosureHTTPInterceptor { _, next in try await next(HTTPRequest("https://mirror/")) }
        }
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.body.bytes == Array(Self.json.utf8))
    }

    @Test(arguments: [false, true])
    func oneThatWasGivenUpForAnAlternateThatFailsSaysSo(isMadeAnew: Bool) async throws {
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/login") { return HTTPResponse(status: 500, request: request) }
            return HTTPResponse(status: 419, body: .once(AsyncStream(chunks: [Array(Self.json.utf8)])), request: request)
        }
        let client = ArbiterBench().client(stub, validators: [AlwaysRetry(.after(HTTPRequest("/login")) { _, _ in })]) { _ in
        } interceptors: {
            ClosureHTTPInterceptor { request, next in
                let isKept = !isMadeAnew || request.urlText.hasSuffix("/login")
                return try await next(isKept ? request : HTTPRequest("https://mirror/"))
            }
        }
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(error?.code == .validation && error?.response?.body.bytes == [])
        #expect(error?.message.contains("given up for another attempt") == true)
    }

    @Test("a longer one is left to be read, and the error says so", arguments: [nil, 65_537] as [Int64?])
    func longer(length: Int64?) async throws {
        let bytes = [UInt8](repeating: 7, count: 65_537)
        let client = client(.notFound) { .once(AsyncStream(chunks: [Array(bytes[..<9]), Array(bytes[9...])]), length: length) }
        let error = await httpError { try await client.stream(HTTPRequest("/")) }
        #expect(error?.message.contains("65536") == true)
        #expect(await httpError { try error?.decode(Problem.self) }?.code == .decoding)
        #expect(try await error?.response?.body.collect() == bytes)
    }

    @Test func whatIsLeftOfALongerOneIsHeldToADeadlineThatCoversBodies() async throws {
        let clock = TestClock()
        let client = client(.notFound, clock: clock) {
            let chunks = Locked([[UInt8](repeating: 7, count: 65_537)])
            return .incoming(
                next: {
                    if let chunk = chunks.withLock({ $0.popLast() }) { return chunk }
                    try await untilCancelled()
                    return nil
                }, close: {})
        }
        var request = HTTPRequest("/")
        request.deadline = .seconds(60)
        request.deadlineCoversBody = true
        let error = await httpError { try await client.stream(request) }
        let rest = try #require(error?.response?.body)
        let reading = Task { try await rest.collect() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        #expect(await reading.result.httpError?.code == .deadlineExceeded)
    }

    @Test func oneOfTheLimitIsKept() async throws {
        let bytes = [UInt8](repeating: 7, count: HTTPError.keptBody)
        let client = client(.notFound) { .once(AsyncStream(chunks: [bytes])) }
        #expect(await httpError { try await client.stream(HTTPRequest("/")) }?.response?.body.bytes == bytes)
    }

    @Test func oneThatDoesNotEndTakesNoLongerThanTheAttempt() async throws {
        let clock = TestClock()
        let isRead = Gate()
        let client = client(.notFound, clock: clock) {
            .once(
                AsyncThrowingStream<[UInt8], any Error> {
                    isRead.open()
                    try await untilCancelled()
                    return nil
                })
        }
        async let failure = httpError { try await client.stream(HTTPRequest("/")) }
        await isRead.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await failure
        #expect(error?.code == .unacceptableStatus)
        #expect(await httpError { try error?.decode(Problem.self) }?.message.contains("timeout") == true)
    }

    @Test func aReaderThatIsCancelledIsToldSo() async throws {
        let reading = Locked(false)
        let client = client(.notFound) {
            .once(
                AsyncThrowingStream<[UInt8], any Error> {
                    reading.withLock { $0 = true }
                    try await untilCancelled()
                    return nil
                })
        }
        let call = Task { try await client.stream(HTTPRequest("/")) }
        await eventually { reading.withLock({ $0 }) }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func anErrorWithoutAResponseSaysSo() {
        #expect(throws: HTTPError.self) { try HTTPError(.connection, "No route.").decode(Problem.self) }
    }

    @Test func anAcceptedOneIsNotRead() async throws {
        let client = client(.ok) { .once(AsyncStream(chunks: [[1]])) }
        #expect(try await client.stream(HTTPRequest("/")).body.bytes == nil)
    }
}

extension AsyncStream where Element == [UInt8] {
    fileprivate init(chunks: [[UInt8]]) {
        self.init { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }
}
