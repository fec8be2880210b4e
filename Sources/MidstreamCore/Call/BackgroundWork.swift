internal import Interception

/// Work that is done for a client while nobody waits for it, a few pieces at a time. It is cancelled when the client is released.
package final class BackgroundWork: Sendable {
    private struct State {
        var next = 0
        /// By their places; nil: yet to begin.
        var tasks: [Int: Task<Void, Never>?] = [:]
    }

    private static let maximum = 32
    private let state = Locked(State())

    package init() {}

    deinit {
        for task in state.withLock({ $0.tasks }).values { task?.cancel() }
    }

    /// Takes a place for a piece of work, which has to begin there.
    ///
    /// - Returns: Nil: 32 are taken.
    package func takePlace() -> Int? {
        state.withLock { state -> Int? in
            guard state.tasks.count < Self.maximum else { return nil }
            state.next += 1
            state.tasks.updateValue(nil, forKey: state.next)
            return state.next
        }
    }

    /// Begins a piece of work, whose end frees its place.
    ///
    /// - Parameter work: Mustn't hold the client.
    package func start(at place: Int, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            // Begun under the lock, so that its end finds it. With the task-local values of the caller it would hold the client.
            state.tasks[place] = CallersExecutor().startDetached { [weak self] in
                await work()
                self?.state.withLock { _ = $0.tasks.removeValue(forKey: place) }
            }
        }
    }
}
