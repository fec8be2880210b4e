internal import Interception
internal import MidstreamCore

/// Keeps the present credential of an ``AuthenticationInterceptor`` and has it refreshed once for all who need a new one.
final class CredentialKeeper<A: Authenticator>: Sendable {
    /// A credential and its place in the order of those that there have been.
    struct Held: Sendable {
        let credential: A.Credential
        let generation: Int
        /// The number of the refresh that has brought it; nil when it was set.
        let refresh: Int?
    }

    /// Why a refresh is needed.
    enum Need {
        /// There is no credential, or it is due; having another one is all that is wanted.
        case due
        /// The credential was rejected; the next one has to be accepted.
        case rejected
    }

    /// What a call finds when it begins.
    struct Present: Sendable {
        /// The present credential.
        let held: Held?
        /// Counts up with each credential, nil ones included.
        let generation: Int
        /// How many refreshes had failed. A call fails with those that come later, and starts none in their place.
        let failures: Int
        /// Whether a refresh is under way.
        let isRefreshing: Bool
    }

    private struct State {
        var credential: A.Credential?
        var generation = 0
        /// Which refresh has brought it; nil: none.
        var source: Int?
        var failures = 0
        var lastFailure: (any Error)?
        /// The number of the refresh that is under way.
        var refresh: Int?
        var refreshes = 0
        var history: RefreshHistory

        var held: Held? { credential.map { Held(credential: $0, generation: generation, refresh: source) } }
    }

    private let authenticator: A
    private let limit: TimeLimit
    private let stopwatch: Stopwatch
    private let state: Locked<State>
    /// By the generation that is to be replaced, so that nobody gets the outcome of a refresh that was begun for another one.
    private let flight = SingleFlight<Int, Result<Held, any Error>>()

    init(
        _ authenticator: A, credential: A.Credential?, limit: RefreshLimit, timeout: Duration?, clock: any Clock<Duration>
    ) {
        self.authenticator = authenticator
        self.limit = TimeLimit(timeout, on: clock)
        stopwatch = Stopwatch(on: clock)
        state = Locked(State(credential: credential, history: RefreshHistory(limit)))
    }

    /// The present credential. Setting it makes what a running refresh brings worthless.
    var credential: A.Credential? {
        get { state.withLock { $0.credential } }
        set {
            state.withLock { state in
                state.credential = newValue
                state.source = nil
                state.generation += 1
                state.lastFailure = nil
            }
        }
    }

    var present: Present {
        state.withLock { state in
            Present(
                held: state.held, generation: state.generation, failures: state.failures, isRefreshing: state.refresh != nil)
        }
    }

    /// Whether the current task is part of the refresh that is under way.
    var isRefreshingHere: Bool {
        let marks = RefreshMark.current
        guard !marks.isEmpty else { return false }
        let running = state.withLock { $0.refresh }
        return marks.contains { $0.owner == ObjectIdentifier(self) && $0.number == running }
    }

    /// A credential in place of that of a generation: one that is there already, or the outcome of a refresh.
    ///
    /// - Parameters:
    ///   - failures: How many refreshes had failed when the call began.
    ///   - need: What it is needed for.
    /// - Returns: The credential, or why there is none.
    /// - Throws: `CancellationError` when the caller's task is cancelled; the refresh then goes on.
    func successor(of generation: Int, failures: Int, need: Need) async throws -> Result<Held, any Error> {
        try await flight.run(generation) { await self.refresh(generation, failures: failures, need: need) }
    }

    /// Notes that a credential was accepted in place of one that had been rejected, so that its refresh wasn't in vain.
    func hasHelped(_ held: Held) {
        guard let refresh = held.refresh else { return }
        state.withLock { $0.history.hasHelped(refresh) }
    }

    private enum Beginning {
        case over(Result<Held, any Error>)
        case begun(A.Credential?, RefreshMark)
    }

    private func refresh(_ generation: Int, failures: Int, need: Need) async -> Result<Held, any Error> {
        switch begin(generation, failures: failures) {
        case .over(let outcome): return outcome
        case .begun(let old, let mark):
            let outcome: Result<A.Credential, any Error>
            do {
                outcome = .success(
                    try await RefreshMark.$current.withValue(RefreshMark.current + [mark]) { [authenticator] in
                        try await limit.run(error: { .refreshTimeout($0) }) { try await authenticator.refresh(old) }
                    })
            } catch {
                outcome = .failure(error)
            }
            return end(mark.number, generation, outcome, need)
        }
    }

    private func begin(_ generation: Int, failures: Int) -> Beginning {
        let now = stopwatch.elapsed
        return state.withLock { state in
            guard state.generation == generation else { return .over(Self.outcome(state)) }
            if state.failures != failures, let failure = state.lastFailure { return .over(.failure(failure)) }
            do {
                try state.history.begin(state.refreshes + 1, at: now)
            } catch {
                return .over(.failure(error))
            }
            state.refreshes += 1
            state.refresh = state.refreshes
            return .begun(state.credential, RefreshMark(owner: ObjectIdentifier(self), number: state.refreshes))
        }
    }

    private func end(
        _ number: Int, _ generation: Int, _ outcome: Result<A.Credential, any Error>, _ need: Need
    ) -> Result<Held, any Error> {
        state.withLock { state in
            state.refresh = nil
            guard state.generation == generation else { return Self.outcome(state) }
            switch outcome {
            case .success(let credential):
                state.credential = credential
                state.source = number
                state.generation += 1
                state.lastFailure = nil
                if need == .due { state.history.hasHelped(number) }
            case .failure(let error):
                state.failures += 1
                state.lastFailure = error
                return .failure(error)
            }
            return Self.outcome(state)
        }
    }

    private static func outcome(_ state: State) -> Result<Held, any Error> {
        state.held.map { .success($0) } ?? .failure(CredentialRemovedError())
    }
}

/// The credential was taken away while a call was waiting for a new one; the error behind ``HTTPError/Code/authentication``.
public struct CredentialRemovedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Makes the error, as tests do.
    public init() {}

    /// Says what happened.
    public var description: String { "The credential was removed while the call was waiting for a new one." }
}

extension HTTPError {
    fileprivate static func refreshTimeout(_ allowed: Duration) -> HTTPError {
        HTTPError(.timeout, "Refreshing the credential took longer than \(allowed).")
    }
}
