internal import Interception

/// The tasks that wait for a network, and the watch that they share, which is there only while somebody waits.
final class NetworkWaiters: Sendable {
    typealias Watch = @Sendable (_ whenOnline: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void

    private struct State {
        /// By their numbers, of which none is used twice: looking for one among thousands that give up would cost more than the wait.
        var waiting: [Int: Suspension<Void>] = [:]
        var lastNumber = 0
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
        let number = try state.withLock { state in
            if state.waiting.isEmpty { state.end = try watch { [self] in release() } }
            state.lastNumber += 1
            state.waiting[state.lastNumber] = suspension
            return state.lastNumber
        }
        guard case .value = await suspension.wait() else {
            leave(number)
            throw CancellationError()
        }
    }

    /// Ends all waits, and the watch.
    private func release() {
        let (over, end) = state.withLock { state in
            defer { state.waiting = [:] }
            return (state.waiting, state.end.take())
        }
        end?()
        for (_, suspension) in over.sorted(by: { $0.key < $1.key }) { suspension.resume() }
    }

    /// Ends one wait, and the watch if it was the last.
    private func leave(_ number: Int) {
        let end = state.withLock { state in
            state.waiting[number] = nil
            return state.waiting.isEmpty ? state.end.take() : nil
        }
        end?()
    }
}
