import Foundation
import Measuring
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

    private static let requests = 10_000

    private struct Part {
        let name: String
        var request = HTTPRequest("https://api.example.com/users/42")
        let interceptor: any HTTPInterceptor
    }

    /// The first does nothing, and is what the others are compared with.
    private static var parts: [Part] {
        let post = HTTPRequest(.post, "https://api.example.com/users")
        return [
            Part(name: "nothing", interceptor: Nothing()),
            Part(name: "ConcurrencyLimit, adaptive", interceptor: ConcurrencyLimit()),
            Part(name: "ConcurrencyLimit, fixed", interceptor: ConcurrencyLimit(.fixed(50))),
            Part(name: "CircuitBreaker", interceptor: CircuitBreaker()),
            Part(name: "RateLimit", interceptor: RateLimit(perSecond: 1e8, burst: 1e8)),
            Part(name: "DeadlineHeader, no deadline", interceptor: DeadlineHeader(milliseconds: "X-Request-Timeout-Ms")),
            Part(name: "Hedging", interceptor: Hedging()),
            Part(name: "Hedging of a POST", request: post, interceptor: Hedging()),
            Part(name: "Fallback", interceptor: Fallback { request, _ in HTTPResponse(status: 200, request: request) }),
            Part(name: "Coalescing of a POST", request: post, interceptor: Coalescing()),
            Part(name: "Coalescing", interceptor: Coalescing()),
            Part(name: "a deadline of 30 s", request: limited, interceptor: Nothing()),
        ]
    }

    private static var limited: HTTPRequest {
        var request = HTTPRequest("https://api.example.com/users/42")
        request.deadline = .seconds(30)
        return request
    }

    static var names: [String] { parts.map { "pass \($0.name)" } }

    /// What is sent for one of the names, and by whom.
    static func counted(_ name: String) -> (client: HTTPClient, request: HTTPRequest)? {
        parts.first { "pass \($0.name)" == name }.map { (client($0.interceptor), $0.request) }
    }

    /// Prints nanoseconds and, when the counting library is preloaded, allocations beyond those of an interceptor that does nothing.
    static func measure() async throws {
        let parts = parts
        let clients = parts.map { client($0.interceptor) }
        var times: [Double] = []
        var added = parts.map { _ in [Double]() }
        // Each next to one that does nothing, and the median of many rounds, since others use the machine, too.
        for _ in 0..<15 {
            for (place, part) in parts.enumerated() {
                let base = try await nanoseconds(of: parts[0].request, on: clients[0])
                times.append(base)
                added[place].append(try await nanoseconds(of: part.request, on: clients[place]) - base)
            }
        }
        print("an exchange through an interceptor that does nothing: \(Int(times.median)) ns; each part adds")
        let base = try await allocations(of: parts[0].request, on: clients[0])
        for (place, part) in parts.enumerated().dropFirst() {
            var text = "  \(part.name): \(Int(added[place].median)) ns"
            if let base, let count = try await allocations(of: part.request, on: clients[place]) {
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

    private static func nanoseconds(of request: HTTPRequest, on client: HTTPClient) async throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<requests { _ = try await client.send(request) }
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(requests)
    }

    private static func allocations(of request: HTTPRequest, on client: HTTPClient) async throws -> Double? {
        guard let before = Usage.allocations else { return nil }
        for _ in 0..<requests { _ = try await client.send(request) }
        return Usage.allocations.map { Double($0 - before) / Double(requests) }
    }
}
