internal import Dispatch
internal import Interception

/// The result of a task, for which a thread waits.
package final class AsyncOutcome<Value: Sendable>: Sendable {
    private let result = Locked<Result<Value, any Error>>(.failure(ConnectionEnded()))
    private let isThere = DispatchSemaphore(value: 0)

    package init() {}

    /// Sets the result and wakes the thread; called once.
    package func finish(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
        isThere.signal()
    }

    /// Waits for the result, looking every 50 milliseconds whether it is still wanted.
    package func wait(unless isPointless: () -> Bool) throws -> Value {
        while isThere.wait(timeout: .now() + 0.05) == .timedOut {
            if isPointless() { throw ConnectionEnded() }
        }
        // For whoever waits besides.
        isThere.signal()
        return try result.withLock { $0 }.get()
    }
}
