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
        try await clock.pause(for: max(wait(before: attempt), asked(by: error)))
    }

    fileprivate func wait(before attempt: Int) -> Duration {
        let ceiling = min(.milliseconds(500) * (1 << min(max(0, attempt - 1), 6)), .seconds(30))
        return ceiling * random()
    }

    fileprivate func asked(by error: HTTPError) -> Duration {
        error.response?.retryAfter(at: now).map { min($0, .seconds(60)) } ?? .zero
    }
}

/// How often one call has gone on after something had broken off, and when its connections may do so next.
struct ResumptionCount: Sendable {
    private struct State {
        var count = 0
        /// By the stopwatch.
        var pauseEnd = Duration.zero
    }

    private let pace: ResumptionPace
    private let stopwatch: Stopwatch
    private let state = Locked(State())

    init(_ pace: ResumptionPace) {
        self.pace = pace
        stopwatch = Stopwatch(on: pace.clock)
    }

    var current: Int { state.withLock { $0.count } }

    /// Counts that what was asked for at a count has broken off, unless that was counted with what broke off over another connection.
    ///
    /// - Returns: The new count.
    func next(after old: Int) -> Int {
        state.withLock { state in
            if state.count == old { state.count += 1 }
            return state.count
        }
    }

    /// Counts the same for one of several connections, and has all of them pause. By a pause of its own each would come back to a count
    /// that another had just raised, and an outage would use up all of it at the shortest of their waits.
    func next(after old: Int, pausingFor error: HTTPError) -> Int {
        let (wait, asked, now) = (pace.wait(before: old + 1), pace.asked(by: error), stopwatch.elapsed)
        return state.withLock { state in
            let isCounted = state.count != old
            if !isCounted { state.count += 1 }
            state.pauseEnd = max(state.pauseEnd, now + (isCounted ? asked : max(wait, asked)))
            return state.count
        }
    }

    /// Waits until the connections may ask; gives the count at which they do.
    func afterPause() async throws -> Int {
        while true {
            let state = state.withLock { $0 }
            let left = state.pauseEnd - stopwatch.elapsed
            guard left > .zero else { return state.count }
            try await stopwatch.clock.pause(for: left)
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
