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

/// How often one call has gone on after something had broken off.
struct ResumptionCount: Sendable {
    private let count = Locked(0)

    var current: Int { count.withLock { $0 } }

    /// Counts that what was asked for at a count has broken off, unless that was counted with what broke off over another connection.
    ///
    /// - Returns: The new count.
    func next(after old: Int) -> Int {
        count.withLock { count in
            if count == old { count += 1 }
            return count
        }
    }
}

extension HTTPResponse {
    /// What is wrong with it, in a sentence.
    func violation(_ message: String) -> HTTPError {
        HTTPError(.protocolViolation, message, request: request, phase: .answered)
    }

    /// Its body has ended too early.
    func lost(at position: Int64, of end: Int64) -> HTTPError {
        HTTPError(.connectionLost, "The body ended after \(position) of \(end) bytes.", request: request, phase: .answered)
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
        // A part of the way, as where it is restarted.
        case .proxy: true
        default: Code.transient.contains(code)
        }
    }
}
