import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCore

/// How a call ends doesn't depend on who else is in the pipeline.
@Suite("A call ends the same with another interceptor", .leavesNothing, .timeLimit(.minutes(10)))
struct PathTests {
    enum Path: String, CaseIterable, Sendable {
        case success, stall, post, unavailable, retryAfter, redirectLoop, halfABody, cancelled, timeout, queue, timeoutInQueue
        case quota, hedge, cache

        var code: HTTPError.Code? {
            switch self {
            case .success, .cancelled: nil
            case .stall, .post, .queue, .hedge, .cache: .deadlineExceeded
            case .unavailable: .retriesExhausted
            case .retryAfter: .unacceptableStatus
            case .redirectLoop: .tooManyRedirects
            case .halfABody: .connectionLost
            case .timeout: .timeout
            case .timeoutInQueue: .overloaded
            case .quota: .rateLimited
            }
        }

        var isPrepared: Bool { self == .queue || self == .timeoutInQueue || self == .quota || self == .cache }
    }

    /// Ends an exchange by itself when its time is over, as libcurl does.
    private struct Server: ExchangeTransport {
        let path: Path
        let keepsTime: Bool
        let arrived = Gate()
        let count = Locked(0)

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await send(request, ExchangeOptions()) }

        func send(_ request: HTTPRequest, _ options: ExchangeOptions) async throws -> HTTPResponse {
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            switch path {
            case .success: return HTTPResponse(status: .ok, request: request)
            case .unavailable: return HTTPResponse(status: .serviceUnavailable, request: request)
            case .retryAfter: return HTTPResponse(status: .serviceUnavailable, headers: ["Retry-After": "60"], request: request)
            case .redirectLoop: return HTTPResponse(status: .found, headers: ["Location": "/"], request: request)
            case .quota where isFirst: return HTTPResponse(status: .ok, request: request)
            case .halfABody:
                let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                    chunks.yield([1])
                    chunks.finish(throwing: HTTPError(.connectionLost, phase: .answered))
                }
                return HTTPResponse(status: .ok, body: .once(chunks), request: request)
            default:
                arrived.open()
                try await ContinuousClock().sleep(for: options.timeLimit ?? .seconds(86_400))
                throw HTTPError.timedOut()
            }
        }
    }

    private struct Ending: Equatable {
        var code: String
        var spans: [String]
    }

    /// The spans but for that of the other interceptor, without times.
    private static func lines(_ spans: [Trace.Span], depth: Int = 0) -> [String] {
        spans.flatMap { span in
            if span.name == "Passing" { return lines(span.children, depth: depth) }
            let events = span.events.map(\.name).joined(separator: " ")
            // Without the message, which may name a time.
            let failure = (span.failure ?? "").prefix { $0 != ":" }
            let line = "\(depth) \(span.name) \(span.attempt) \(span.status ?? 0) \(failure) [\(events)]"
            return [line] + lines(span.children, depth: depth + 1)
        }
    }

    private func ending(of path: Path, with stage: InterceptorStage?, keepsTime: Bool) async -> Ending {
        let server = Server(path: path, keepsTime: keepsTime)
        var configuration = HTTPClient.Configuration(timeout: nil, deadline: .seconds(50))
        configuration.random = { 0 }
        if path == .unavailable || path == .retryAfter { configuration.maxRetries = 2 }
        let client = testClient(configuration: configuration, transport: server) {
            if let stage { ClosureHTTPInterceptor("Passing", stage: stage) { try await $1($0) } }
            switch path {
            case .queue, .timeoutInQueue: ConcurrencyLimit(.fixed(1), queue: 5)
            case .quota: RateLimit(perSecond: 0.001)
            case .hedge: Hedging(delay: .seconds(3_600))
            case .cache: CacheInterceptor()
            default: DeadlineHeader(seconds: "X-Time")
            }
        }
        let other = Task { if path.isPrepared { _ = try? await client.send(HTTPRequest("https://h/")) } }
        if path.isPrepared, path != .quota { await server.arrived.wait() } else { await other.value }
        var request = HTTPRequest(path == .post ? .post : .get, "https://h/")
        // Long enough for the way to the exchange or the queue, where it is to end.
        if path.code == .deadlineExceeded { request.deadline = .seconds(2) }
        if path == .timeout || path == .timeoutInQueue { request.timeout = .seconds(2) }
        if path == .retryAfter { request.deadline = .seconds(40) }
        let call = Task { [request] in try await client.send(request) }
        if path == .cancelled {
            await server.arrived.wait()
            call.cancel()
        }
        var ending = Ending(code: "", spans: [])
        do {
            ending.spans = Self.lines(try await call.value.trace.spans)
        } catch let error as HTTPError {
            ending = Ending(code: error.code.rawValue, spans: Self.lines(error.trace?.spans ?? []))
        } catch {
            ending.code = "\(error)"
        }
        other.cancel()
        await other.value
        return ending
    }

    @Test(arguments: Path.allCases, [true, false])
    func same(_ path: Path, keepsTime: Bool) async {
        let expected = await ending(of: path, with: nil, keepsTime: keepsTime)
        #expect(expected.code == path.code?.rawValue ?? (path == .success ? "" : "CancellationError()"))
        #expect(path == .cancelled || !expected.spans.isEmpty)
        for stage in InterceptorStage.allCases {
            let ending = await ending(of: path, with: stage, keepsTime: keepsTime)
            #expect(ending == expected, "with an interceptor at \(stage)")
        }
    }

    @Test("Of nested deadlines the earliest holds, wherever a longer one is set", arguments: InterceptorStage.allCases)
    func nested(stage: InterceptorStage) async {
        let server = Server(path: .stall, keepsTime: true)
        let client = testClient(configuration: .init(timeout: nil, deadline: .milliseconds(50)), transport: server) {
            Longer(stage: stage)
        }
        #expect(await httpError { try await client.send(HTTPRequest("https://h/")) }?.code == .deadlineExceeded)
    }

    private struct Longer: HTTPInterceptor {
        let stage: InterceptorStage
        let traits = InterceptorTraits.endsInTime

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            request.deadline = .seconds(3_600)
            return try await next(request)
        }
    }
}
