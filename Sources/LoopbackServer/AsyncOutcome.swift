internal import Foundation

/// The result of a task, for which a thread waits.
///
/// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the condition's lock is held.
package final class AsyncOutcome<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<Value, any Error>?

    package init() {}

    /// Sets the result, unless there is one already, and wakes the thread.
    package func finish(_ result: Result<Value, any Error>) {
        condition.lock()
        defer { condition.unlock() }
        if self.result == nil { self.result = result }
        condition.broadcast()
    }

    /// Waits for the result, looking every 50 milliseconds whether it is still wanted.
    package func wait(unless isPointless: () -> Bool) throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.05))
            if result == nil, isPointless() { throw ConnectionEnded() }
        }
    }
}
