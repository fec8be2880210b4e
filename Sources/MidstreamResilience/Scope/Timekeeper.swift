internal import Interception
internal import MidstreamCore

/// The time on the clock of the client that an interceptor serves, in nanoseconds since a fixed moment.
final class Timekeeper: Sendable {
    private let other = Locked<Stopwatch?>(nil)

    /// On the clock of the call; outside of calls on the system's.
    func now(_ next: Next<HTTPRequest, HTTPResponse>) -> Int64 {
        if next.isOnSystemClock { return continuousNanoseconds() }
        return now(next.call)
    }

    /// On the clock of the call; nil: the system's. Not inlined, so that the clock isn't part of the frames of those who wait.
    @inline(never)
    func now(_ call: Call?) -> Int64 {
        guard let call, !call.stopwatch.isOnSystemClock else { return continuousNanoseconds() }
        return now(on: call.stopwatch.clock)
    }

    /// On the clock of the clients seen so far.
    var now: Int64 { other.withLock { $0 }?.elapsedNanoseconds ?? continuousNanoseconds() }

    func now(on clock: any Clock<Duration>) -> Int64 {
        if clock is ContinuousClock { return continuousNanoseconds() }
        let stopwatch = other.withLock { other in
            let stopwatch = other ?? Stopwatch(on: clock)
            other = stopwatch
            return stopwatch
        }
        return stopwatch.elapsedNanoseconds
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The timer of the call's clock.
    var timer: ClockTimer { call?.stopwatch.timer ?? .system }
}

extension Duration {
    /// Such as `3.2 s` or `85 ms`.
    var brief: String {
        let seconds = self / .seconds(1)
        if seconds >= 99.95 { return "\(Int64(seconds.rounded(), within: 1e15)) s" }
        if seconds >= 1 { return "\((seconds * 10).rounded() / 10) s" }
        return "\(Int64((seconds * 1_000).rounded(), within: 1e15)) ms"
    }
}
