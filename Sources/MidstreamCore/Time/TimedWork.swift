internal import Interception

/// Work in a child task that is cancelled when its time is over.
///
/// The child begins in its caller's thread. A timer is set only once it waits, so work that ends at once costs neither a timer nor a change of
/// threads.
package enum TimedWork<Value: Sendable> {
    package struct Ending: Sendable {
        package let result: Result<Value, any Error>
        /// Whether its time was over before it ended, so that it was cancelled.
        package let isLate: Bool
    }

    /// Runs work to its end, and cancels it when its time is over or the caller is cancelled.
    ///
    /// - Parameters:
    ///   - limit: When its time is over.
    ///   - stopwatch: What that is counted on.
    ///   - onLate: Called before work that is still waited for is cancelled since its time is over.
    /// - Returns: The result; `CancellationError` when it had to be waited for and the caller was cancelled.
    package static func run(
        until limit: Duration, of stopwatch: Stopwatch, _ work: @escaping @Sendable () async throws -> Value,
        onLate: @escaping @Sendable () -> Void = {}
    ) async -> Ending {
        let end = Suspension<Void>()
        return await withTaskGroup(of: Result<Value, any Error>.self) { group in
            group.startAtOnce {
                defer { end.resume() }
                do { return .success(try await work()) } catch { return .failure(error) }
            }
            let left = limit - stopwatch.elapsed
            let hadToWait = !end.isOver
            // Work that ended at once may have been too late nevertheless. Cancellation of this task isn't waited for: the child is cancelled, too.
            let isLate = await end.value(within: left, on: stopwatch.timer) == nil || left <= .zero
            if hadToWait {
                if isLate { onLate() }
                group.cancelAll()
            }
            let result = await group.next()
            guard let result, !(hadToWait && Task.isCancelled) else {
                return Ending(result: .failure(CancellationError()), isLate: false)
            }
            return Ending(result: result, isLate: isLate)
        }
    }
}
