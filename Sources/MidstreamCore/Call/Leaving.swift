internal import Interception

/// Tells work whose task was cancelled at the deadline when the call's user leaves as well: no task is cancelled a second time.
struct Leaving: Sendable {
    @TaskLocal static var current: Leaving?

    /// What is done then; nil: the user has left.
    private let reactions = Locked<[@Sendable () -> Void]?>([])

    /// Runs work that may be cancelled before the present task is.
    static func told<Value: Sendable>(to work: () async -> Value) async -> Value {
        let leaving = Leaving()
        return await withTaskCancellationHandler {
            await $current.withValue(leaving) { await work() }
        } onCancel: {
            leaving.happen()
        }
    }

    /// Does something when the user leaves, or now if that has happened.
    func then(_ react: @escaping @Sendable () -> Void) {
        let hasHappened = reactions.withLock { reactions in
            reactions?.append(react)
            return reactions == nil
        }
        if hasHappened { react() }
    }

    private func happen() {
        let last = reactions.withLock { reactions in
            defer { reactions = nil }
            return reactions
        }
        for react in last ?? [] { react() }
    }
}
