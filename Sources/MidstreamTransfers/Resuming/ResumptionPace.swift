internal import Foundation
internal import Interception
internal import MidstreamCore

/// How long to wait before something that broke off is gone on with.
struct ResumptionPace: Sendable {
    let clock: any Clock<Duration>
    private let random: @Sendable () -> Double
    private let now: @Sendable () -> Date

    init(of next: Next<HTTPRequest, HTTPResponse>) {
        let owner = next.call?.owner
        clock = owner?.stopwatch.clock ?? ContinuousClock()
        random = owner?.random ?? { @Sendable in Double.random(in: 0..<1) }
        now = owner?.now ?? { @Sendable in Date() }
    }

    /// Waits: longer each time, up to 30 s with full jitter, and as long as the server asks, up to a minute.
    func pause(before attempt: Int, after error: HTTPError) async throws {
        let ceiling = min(.milliseconds(500) * (1 << min(max(0, attempt - 1), 6)), .seconds(30))
        let asked = error.response?.retryAfter(at: now).map { min($0, .seconds(60)) } ?? .zero
        try await clock.pause(for: max(ceiling * random(), asked))
    }
}

extension HTTPError {
    /// Whether asking for the rest may help.
    var mayPass: Bool {
        switch code {
        case _ where isForNow || code.isRefusal: true
        case _ where isForGood: false
        case .retriesExhausted: (underlying as? HTTPError)?.mayPass ?? false
        case .unacceptableStatus: response.map { HTTPStatus.transient.contains($0.status) } ?? false
        default: Code.transient.contains(code)
        }
    }
}
