internal import Interception

/// The tasks that wait for a network, and the watch that they share, which is there only while somebody waits.
final class NetworkWaiters: Sendable {
    typealias Watch = @Sendable (_ whenOnline: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void

    private struct State {
        var waiting: [Suspension<Void>] = []
        /// Ends the watch; nil: there is none.
        var end: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let watch: Watch

    /// How many wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// - Parameter watch: Begins to watch and returns what ends it. What it gets is called soon if there is a network already, and whenever
    ///   there is one after a change, but not before it returns.
    init(watch: @escaping Watch) { self.watch = watch }

    /// Waits until there is a network.
    ///
    /// - Throws: `CancellationError`; what the beginning of the watch throws.
    func wait() async throws {
        let suspension = Suspension<Void>()
        try state.withLock { state in
            if state.waiting.isEmpty { state.end = try watch { [self] in release { _ in true } } }
            state.waiting.append(suspension)
        }
        guard case .value = await suspension.wait() else {
            release { $0 == suspension }
            throw CancellationError()
        }
    }

    /// Ends waits, and the watch after the last of them.
    private func release(_ isOver: (Suspension<Void>) -> Bool) {
        let (over, end) = state.withLock { state in
            let over = state.waiting.filter(isOver)
            state.waiting.removeAll(where: isOver)
            let end = state.waiting.isEmpty ? state.end : nil
            if state.waiting.isEmpty { state.end = nil }
            return (over, end)
        }
        end?()
        for suspension in over { suspension.resume() }
    }
}
