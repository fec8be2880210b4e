import Foundation
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport
import Testing

/// Whatever asks a server again: retries, redirects, alternate requests, hedges.
@Suite("A server that always gives the same answer", .leavesNothing, .timeLimit(.minutes(10)))
struct SameAnswerTests {
    enum Kind: CaseIterable { case standard, immediate, alternate, hedged }

    private static let statuses = [
        200, 204, 300, 301, 303, 304, 307, 308, 400, 401, 403, 408, 412, 421, 425, 429, 500, 502, 503, 504,
    ]

    private static func validators(_ kind: Kind) -> [any HTTPValidator] {
        switch kind {
        case .standard, .hedged: [DefaultValidator()]
        case .immediate: [AlwaysRetry()]
        case .alternate:
            [AlternateRequestValidator(request: { _, _ in HTTPRequest("https://server.test/token") }), DefaultValidator()]
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("ends every call, within its attempts and redirects", arguments: Kind.allCases, statuses)
    func ends(kind: Kind, status: Int) async throws {
        let report = try await Simulation(seed: 1) { world in
            var configuration = world.configuration
            configuration.maxRetries = 3
            configuration.retryBudget = nil
            configuration.timeout = nil
            configuration.validators = Self.validators(kind)
            return testClient(configuration: configuration, transport: world.transport) {
                if kind == .hedged { Hedging(delay: .zero, budget: 1) }
            }
        } server: {
            ServerModel(
                workers: 100, service: .constant(.milliseconds(1)),
                respond: { request in
                    // A redirect that leads ever further, and the wish to be asked again at once.
                    HTTPResponse(
                        status: HTTPStatus(status), headers: ["Location": "\(request.urlText)x", "Retry-After": "0"],
                        request: request)
                })
        } load: {
            .constant(perSecond: 0.1)
        }.run(for: .seconds(20))
        #expect(report.calls(0..<20) == 2 && report.stalled.isEmpty)
        let sends = report.rows.reduce(0) { $0 + $1.sends }
        // 4 attempts and one alternate, each of at most 11 exchanges, of which each may have a second one.
        #expect(sends >= 2 && sends <= 2 * 5 * 11 * 2)
    }
}
