import Foundation
import Midstream

/// What each part adds to an exchange that it lets through, in the pipeline alone.
enum Passes {
    /// Answers at once, so that nothing but the pipeline is measured.
    private struct Instant: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: 200, body: .bytes([65]), request: request)
        }
    }

    /// Does nothing, as every interceptor at least does.
    private struct Nothing: HTTPInterceptor {
        let stage = InterceptorStage.exchange

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    private static let requests = 20_000

    /// Prints nanoseconds and, when the counting library is preloaded, allocations beyond those of an interceptor that does nothing.
    static func measure() async throws {
        let get = HTTPRequest("https://api.example.com/users/42")
        let post = HTTPRequest(.post, "https://api.example.com/users")
        let parts: [(String, HTTPRequest, any HTTPInterceptor)] = [
            ("ConcurrencyLimit, adaptive", get, ConcurrencyLimit()),
            ("ConcurrencyLimit, fixed", get, ConcurrencyLimit(.fixed(50))),
            ("CircuitBreaker", get, CircuitBreaker()), ("RateLimit", get, RateLimit(perSecond: 1e8, burst: 1e8)),
            ("DeadlineHeader, no deadline", get, DeadlineHeader(.milliseconds("X-Request-Timeout-Ms"))),
            ("Hedging", get, Hedging()), ("Hedging of a POST", post, Hedging()),
            ("Fallback", get, Fallback { request, _ in HTTPResponse(status: 200, request: request) }),
            ("Coalescing of a POST", post, Coalescing()), ("Coalescing", get, Coalescing()),
        ]
        let clients = [client(Nothing())] + parts.map { client($0.2) }
        let sent = [get] + parts.map(\.1)
        var times = clients.map { _ in Duration.seconds(3_600) }
        // One after the other and the best of many rounds, since others use the machine, too.
        for _ in 0..<15 {
            for place in clients.indices { times[place] = min(times[place], try await time(of: sent[place], on: clients[place])) }
        }
        let nanoseconds = times.map { Int(($0 / .nanoseconds(1) / Double(requests)).rounded()) }
        print("an exchange through an interceptor that does nothing: \(nanoseconds[0]) ns; each part adds")
        let base = try await allocations(of: get, on: clients[0])
        for (place, part) in parts.enumerated() {
            var text = "  \(part.0): \(nanoseconds[place + 1] - nanoseconds[0]) ns"
            if let base, let count = try await allocations(of: part.1, on: clients[place + 1]) {
                text += String(format: ", %.2f allocations", count - base)
            }
            print(text)
        }
    }

    private static func client(_ interceptor: any HTTPInterceptor) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.recordsTrace = false
        configuration.timeout = nil
        return HTTPClient(configuration: configuration, transport: Instant()) { interceptor }
    }

    private static func time(of request: HTTPRequest, on client: HTTPClient) async throws -> Duration {
        let start = ContinuousClock.now
        for _ in 0..<requests { _ = try await client.send(request) }
        return ContinuousClock.now - start
    }

    private static func allocations(of request: HTTPRequest, on client: HTTPClient) async throws -> Double? {
        guard let before = Usage.allocations else { return nil }
        for _ in 0..<requests { _ = try await client.send(request) }
        return Usage.allocations.map { Double($0 - before) / Double(requests) }
    }
}
