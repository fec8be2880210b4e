internal import Interception

/// Work that is done for a client while nobody waits for it, a few pieces at a time. It is cancelled when the client is released.
package final class BackgroundWork: Sendable {
    private struct State {
        var next = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private static let maximum = 32
    private let state = Locked(State())

    package init() {}

    deinit {
        for task in state.withLock({ $0.tasks }).values { task.cancel() }
    }

    /// Begins a piece of work, unless 32 are under way.
    ///
    /// - Parameter work: Mustn't hold the client.
    /// - Returns: Whether it was begun.
    package func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard state.tasks.count < Self.maximum else { return false }
            state.next += 1
            let number = state.next
            // Begun under the lock, so that its end finds it. With the task-local values of the caller it would hold the client.
            state.tasks[number] = CallersExecutor().startDetached { [weak self] in
                await work()
                self?.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
            }
            return true
        }
    }
}
