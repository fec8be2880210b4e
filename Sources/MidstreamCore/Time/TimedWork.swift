internal import Interception

/// Work in a child task, for which somebody waits until its time is over.
///
/// The child begins in its caller's thread. Only when it waits is its time watched: work that comes to its end at once, since it needs nobody
/// or since the caller fetches what it needs itself, costs neither a timer nor a change of threads.
struct TimedWork<Value: Sendable>: TimeListener {
    /// What work has come to.
    struct Ending: Sendable {
        let result: Result<Value, any Error>
        /// Whether its time was over before it ended, so that it was cancelled.
        let isLate: Bool
    }

    private struct State {
        var result: Result<Value, any Error>?
        var isLate = false
        var waiter: UnsafeContinuation<Void, Never>?
    }

    /// Called when the time is over, before anybody is cancelled.
    private let onLate: @Sendable () -> Void
    private let state = Locked(State())

    private init(onLate: @escaping @Sendable () -> Void) { self.onLate = onLate }

    /// Runs work to its end, and cancels it when its time is over or the caller is cancelled.
    ///
    /// - Parameters:
    ///   - limit: When its time is over.
    ///   - stopwatch: What that is counted on.
    ///   - onLate: Called when it is, before anybody is cancelled.
    /// - Returns: What it has come to; `CancellationError` when it had to be waited for and the caller was cancelled.
    static func run(
        until limit: Duration, of stopwatch: Stopwatch, onLate: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () async throws -> Value
    ) async -> Ending {
        let timed = TimedWork(onLate: onLate)
        return await withTaskGroup(of: Void.self) { group in
            group.startAtOnce { await timed.run(work) }
            let left = limit - stopwatch.elapsed
            if left <= .zero { timed.timeIsOver(whateverCame: true) }
            if let ending = timed.ending() { return ending }
            var alarm: Alarms.Alarm?
            if left > .zero {
                if stopwatch.isOnSystemClock {
                    alarm = Alarms.shared.set(for: timed, in: left)
                } else {
                    group.addTask { [clock = stopwatch.clock] in
                        do { try await clock.pause(for: left) } catch { return }
                        timed.timeIsOver()
                    }
                }
            }
            await timed.wait()
            if let alarm { Alarms.shared.remove(alarm) }
            group.cancelAll()
            await group.waitForAll()
            if Task.isCancelled { return Ending(result: .failure(CancellationError()), isLate: false) }
            return timed.ending() ?? Ending(result: .failure(CancellationError()), isLate: false)
        }
    }

    func timeIsOver() { timeIsOver(whateverCame: false) }

    /// - Parameter whateverCame: Also when the work has ended, which it did too late.
    private func timeIsOver(whateverCame: Bool) {
        let isOver = state.withLock { state in
            guard whateverCame || state.result == nil else { return false }
            state.isLate = true
            return true
        }
        guard isOver else { return }
        onLate()
        wake()
    }

    private func run(_ work: @Sendable () async throws -> Value) async {
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        state.withLock { $0.result = result }
        wake()
    }

    /// What there is; nil while the work goes on.
    private func ending() -> Ending? {
        state.withLock { state in state.result.map { Ending(result: $0, isLate: state.isLate) } }
    }

    /// Waits until the work has ended or its time is over. Doesn't hear of the cancellation of its task: the work does, and ends.
    private func wait() async {
        await withUnsafeContinuation { continuation in
            let isOver = state.withLock { state in
                if state.result != nil || state.isLate { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
