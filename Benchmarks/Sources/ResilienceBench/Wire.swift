import Foundation
import Measuring
import Midstream

/// What all parts together add to a request to a real server.
enum Wire {
    private static let requests = 2_000

    static let names = [
        "no parts", "Resilience.standard", "Resilience.standard, and an interceptor of one's own", "all parts but Coalescing",
        "all parts",
    ].map { "wire, \($0)" }

    /// What is sent for one of the names, and by whom.
    static func counted(_ name: String, server: String) -> (client: HTTPClient, request: HTTPRequest)? {
        guard let place = names.firstIndex(of: name) else { return nil }
        return (client(place), HTTPRequest(server + "/bench"))
    }

    private static func client(_ place: Int) -> HTTPClient {
        let limits: [any HTTPInterceptor] = [
            Fallback { request, _ in HTTPResponse(status: 200, request: request) }, Hedging(), CircuitBreaker(),
            RateLimit(perSecond: 1e8, burst: 1e8), ConcurrencyLimit(), DeadlineHeader(milliseconds: "X-Request-Timeout-Ms"),
        ]
        return switch place {
        case 0: HTTPClient()
        case 1: HTTPClient { Resilience.standard }
        case 2:
            HTTPClient {
                Resilience.standard
                ClosureRequestInterceptor { _ in }
            }
        case 3: HTTPClient { for part in limits { part } }
        default: HTTPClient { for part in limits + [Coalescing()] { part } }
        }
    }

    /// Prints ratios of processor time, of whole clients with and without the parts: the median of interleaved rounds.
    static func measure() async throws {
        guard let server = ProcessInfo.processInfo.environment["MIDSTREAM_NGINX_HTTP"] else { return }
        // As it is: an interpolation would be encoded.
        let request = HTTPRequest(server + "/bench")
        let bare = client(0)
        let contestants = [("the same client again", client(0))] + names.indices.dropFirst().map { (names[$0], client($0)) }
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
            print(String(format: "  \(name): %.3f×", ratios[place].median))
        }
    }

    private static func seconds(of request: HTTPRequest, on client: HTTPClient) async throws -> Double {
        let before = Usage.processorSeconds
        for _ in 0..<requests {
            let response = try await client.send(request)
            precondition(response.status == .ok)
        }
        return Usage.processorSeconds - before
    }
}
