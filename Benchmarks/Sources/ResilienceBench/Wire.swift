import Foundation
import Midstream

/// What all parts together add to a request to a real server.
enum Wire {
    private static let requests = 2_000

    /// Prints ratios of processor time, of whole clients with and without the parts: the median of interleaved rounds.
    static func measure() async throws {
        guard let server = ProcessInfo.processInfo.environment["MIDSTREAM_NGINX_HTTP"] else { return }
        // As it is: an interpolation would be encoded.
        let request = HTTPRequest(server + "/bench")
        let bare = HTTPClient()
        let limits: [any HTTPInterceptor] = [
            Fallback { request, _ in HTTPResponse(status: 200, request: request) }, Hedging(), CircuitBreaker(),
            RateLimit(perSecond: 1e8, burst: 1e8), ConcurrencyLimit(), DeadlineHeader(.milliseconds("X-Request-Timeout-Ms")),
        ]
        let contestants: [(String, HTTPClient)] = [
            ("the same client again", HTTPClient()),
            ("Resilience.standard", HTTPClient { Resilience.standard }),
            ("all parts but Coalescing", HTTPClient { for part in limits { part } }),
            ("all parts", HTTPClient { for part in limits + [Coalescing()] { part } }),
        ]
        var ratios = contestants.map { _ in [Double]() }
        _ = try await seconds(of: request, on: bare)
        for (_, client) in contestants { _ = try await seconds(of: request, on: client) }
        for _ in 0..<15 {
            for (place, (_, client)) in contestants.enumerated() {
                let before = try await seconds(of: request, on: bare)
                let own = try await seconds(of: request, on: client)
                let after = try await seconds(of: request, on: bare)
                ratios[place].append(2 * own / (before + after))
            }
        }
        print("\nprocessor time of a send() of 1 KiB over HTTP/1.1, as a ratio to a client without parts:")
        for (place, (name, _)) in contestants.enumerated() {
            print(String(format: "  \(name): %.3f×", ratios[place].sorted()[ratios[place].count / 2]))
        }
    }

    private static func seconds(of request: HTTPRequest, on client: HTTPClient) async throws -> Double {
        let before = Usage.seconds
        for _ in 0..<requests {
            let response = try await client.send(request)
            precondition(response.status == .ok)
        }
        return Usage.seconds - before
    }
}
