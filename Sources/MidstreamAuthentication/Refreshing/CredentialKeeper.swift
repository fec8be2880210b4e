internal import Interception
internal import MidstreamCore

/// Keeps the present credential of an ``AuthenticationInterceptor`` and has it refreshed once for all who need a new one.
final class CredentialKeeper<A: Authenticator>: Sendable {
    typealias Held = Login<A.Credential>.Held
    typealias State = Login<A.Credential>.State

    /// Why a refresh is needed.
    enum Need {
        /// There is no credential, or it is due; having another one is all that is wanted.
        case due
        /// The credential was rejected; the next one has to be accepted.
        case rejected
    }

    private let authenticator: A
    private let refreshLimit: RefreshLimit
    private let limit: TimeLimit
    /// A store that never returned would keep everything after it from being saved.
    private let saveLimit: TimeLimit
    private let login: Login<A.Credential>

    init(
        _ authenticator: A, credential: A.Credential?, limit: RefreshLimit, timeout: Duration?, clock: any Clock<Duration>
    ) {
        self.authenticator = authenticator
        refreshLimit = limit
        self.limit = TimeLimit(timeout, on: clock)
        saveLimit = TimeLimit(.seconds(60), on: clock)
        login = (authenticator as? any LoginSharing<A.Credential>)?.login(on: clock) ?? Login(on: clock)
        guard let credential else { return }
        login.state.withLock { state in
            state.replace(with: credential, source: nil)
            state.isInitial = true
        }
    }

    /// The present credential.
    var credential: A.Credential? { login.state.withLock { $0.credential } }

    /// Replaces the credential, which makes what a running refresh brings worthless.
    ///
    /// - Parameter isLogin: Whether calls that have begun belong to another login than those to come.
    /// - Returns: The task that saves it.
    @discardableResult
    func set(_ credential: A.Credential?, isLogin: Bool) -> Task<Void, any Error> {
        login.state.withLock { state in
            let isFirst = state.generation == 0 && !isLogin
            state.replace(with: credential, source: nil)
            (state.isTold, state.isFirst) = (true, isFirst)
            if isLogin { state.beginAnother() }
        }
        return Task { try await save() }
    }

    /// Takes a credential of the same login unless it is the present one.
    func offer(_ credential: A.Credential) -> Bool where A.Credential: Equatable {
        let isTaken = login.state.withLock { state in
            let isLoggedOut = state.credential == nil && state.number > 0
            guard !isLoggedOut, state.credential != credential else { return false }
            // The authenticator may not have heard of the login yet, of which this one is now.
            let isTold = state.isTold
            state.replace(with: credential, source: nil)
            state.isTold = isTold
            return true
        }
        if isTaken { CallersExecutor().start { try? await self.save() } }
        return isTaken
    }

    /// What a call finds when it begins.
    var present: State { login.state.withLock { $0 } }

    /// Whether the current task is part of a refresh that is under way.
    var isRefreshingHere: Bool {
        let marks = RefreshMark.current
        guard !marks.isEmpty else { return false }
        let running = login.state.withLock { $0.running }
        return marks.contains { $0.owner == ObjectIdentifier(login) && running[$0.number] != nil }
    }

    /// A credential in place of that of a generation: one that is there already, or the outcome of a refresh.
    ///
    /// - Parameters:
    ///   - login: The login that the call belongs to.
    ///   - failures: How many refreshes had failed when the call began.
    /// - Returns: The credential, or why there is none.
    /// - Throws: `CancellationError` when the caller's task is cancelled; the refresh then goes on.
    func successor(of generation: Int, login number: Int, failures: Int, need: Need) async throws -> Result<Held, any Error> {
        let outcome = try await login.flight.run(generation) { await self.refresh(generation, failures: failures, need: need) }
        let state = present
        guard state.number == number else { return .failure(RefreshRefusal.loginEnded) }
        // What is due is used until its end while nobody gives another one.
        guard need == .due, case .failure(let error) = outcome, error.isRefusalForNow || error.isUnanswered,
            let held = state.held, (authenticator as? any CredentialExpiring<A.Credential>)?.hasEnded(held.credential) == false
        else { return outcome }
        return .success(held)
    }

    /// Notes what a credential was good for, which tells whether its refresh was in vain.
    func note(_ use: RefreshHistory.Use, of held: Held) {
        guard let refresh = held.refresh else { return }
        login.state.withLock { $0.note(use, of: refresh) }
    }

    private enum Beginning {
        case over(Result<Held, any Error>)
        case begun(A.Credential?, RefreshMark)
    }

    private func refresh(_ generation: Int, failures: Int, need: Need) async -> Result<Held, any Error> {
        switch begin(generation, failures: failures, need: need) {
        case .over(let outcome): return outcome
        case .begun(let old, let mark):
            return await RefreshMark.$current.withValue(RefreshMark.current + [mark]) {
                let outcome = await obtained(insteadOf: old)
                if commit(outcome, of: mark.number, insteadOf: generation, for: need) { try? await saveInTime() }
                return end(mark.number, generation, outcome)
            }
        }
    }

    private func obtained(insteadOf old: A.Credential?) async -> Result<A.Credential, any Error> {
        await .of { [limit, authenticator] in
            // The authenticator reads the store. Before it has heard of the present login, that is another user's.
            do { try await saveInTime() } catch { if login.state.withLock({ $0.isTold }) { throw error } }
            // One that comes late may have spent what the next refresh would need.
            return try await limit.obtain(error: { .refreshTimeout($0) }) { try await authenticator.refresh(old) }
        }
    }

    private func begin(_ generation: Int, failures: Int, need: Need) -> Beginning {
        login.state.withLock { state in
            guard state.generation == generation else { return .over(Self.outcome(state)) }
            let now = state.stopwatch.elapsed
            let failure = state.lastFailure
            // What was rejected can't be used meanwhile.
            let mayWait = failure != nil || need == .due
            if failure != nil && state.failures != failures || mayWait && !state.refreshPause.isOver(at: now) {
                return .over(failure.map { .failure($0) } ?? Self.outcome(state))
            }
            do {
                try state.history.begin(state.refreshes + 1, at: now, limit: refreshLimit)
            } catch {
                // One that is due may be accepted all the same.
                return .over(need == .due ? state.held.map { .success($0) } ?? .failure(error) : .failure(error))
            }
            state.refreshes += 1
            state.running[state.refreshes] = generation
            return .begun(state.credential, RefreshMark(owner: ObjectIdentifier(login), number: state.refreshes))
        }
    }

    /// Takes over what a refresh has brought, if its login is still the present one, and says whether there is something to be saved.
    private func commit(
        _ outcome: Result<A.Credential, any Error>, of number: Int, insteadOf generation: Int, for need: Need
    ) -> Bool {
        let isDue = (try? outcome.get()).map(authenticator.needsRefresh) ?? true
        return login.state.withLock { state in
            guard state.generation == generation else { return false }
            switch outcome {
            case .success(let credential) where hasReturned(credential, insteadOf: state.credential):
                // Nobody could be asked, and so nothing was in vain.
                state.lastFailure = nil
                state.refreshPause.extend(at: state.stopwatch.elapsed)
                state.history.forget(number)
                return false
            case .success(let credential):
                state.replace(with: credential, source: number)
                // One that is due at once would be refreshed by the next call again.
                if isDue { state.note(.inVain, of: number) } else if need == .due { state.history.forget(number) }
                return true
            case .failure(let error):
                state.failures += 1
                state.lastFailure = error
                let now = state.stopwatch.elapsed
                if let postponed = error as? any PostponedRefresh {
                    state.refreshPause.postpone(by: postponed.retryAfter, at: now)
                } else if error.isUnanswered {
                    state.refreshPause.extend(at: now)
                } else {
                    state.refreshPause = Backoff()
                    return false
                }
                state.history.forget(number)
                return false
            }
        }
    }

    private func hasReturned(_ credential: A.Credential, insteadOf old: A.Credential?) -> Bool {
        guard let old, let returning = authenticator as? any CredentialReturning<A.Credential> else { return false }
        return returning.hasReturned(credential, insteadOf: old)
    }

    private func end(
        _ number: Int, _ generation: Int, _ outcome: Result<A.Credential, any Error>
    ) -> Result<Held, any Error> {
        login.state.withLock { state in
            state.running[number] = nil
            if case .failure(let error) = outcome, state.generation == generation { return .failure(error) }
            return Self.outcome(state)
        }
    }

    private static func outcome(_ state: State) -> Result<Held, any Error> {
        state.held.map { .success($0) } ?? .failure(RefreshRefusal.loginEnded)
    }
}

extension CredentialKeeper {
    /// Saves for a refresh, and keeps that waiting no longer than it may take itself.
    private func saveInTime() async throws { try await limit.run(error: { .refreshTimeout($0) }) { try await self.save() } }

    /// Has the authenticator save the present credential, until what it has saved is the present one.
    private func save() async throws {
        while let unsaved = login.state.withLock({ $0.unsaved }) {
            let (generation, outcome) = try await login.saves.run { await self.saveOnce() }
            // What failed for one before this says nothing of it, and has ended.
            if generation >= unsaved { try outcome.get() }
        }
    }

    private func saveOnce() async -> Login<A.Credential>.Saving {
        let present = login.state.withLock { state in
            defer { state.isTold = false }
            return state
        }
        do {
            try await saveLimit.run(error: { .saveTimeout($0) }) { [authenticator] in
                let saving = authenticator as? any LoginSaving<A.Credential>
                if present.isTold, let saving {
                    try await saving.saveLogin(present.credential, isFirst: present.isFirst)
                } else if present.isInitial, let saving, let credential = present.credential {
                    try await saving.saveInitial(credential)
                } else {
                    try await authenticator.save(present.credential)
                }
            }
            login.state.withLock { if $0.generation == present.generation { $0.isSaved = true } }
            return (present.generation, .success(()))
        } catch {
            login.state.withLock { $0.savePause.extend(at: $0.stopwatch.elapsed) }
            return (present.generation, .failure(error))
        }
    }

    /// Saves what couldn't be saved before, beside the calls.
    func saveAgain() {
        let isTime = login.state.withLock { state in
            let now = state.stopwatch.elapsed
            guard !state.isSaved, state.savePause.isOver(at: now) else { return false }
            // Only the first of those who come now.
            state.savePause.postpone(by: .milliseconds(100), at: now)
            return true
        }
        if isTime, login.saves.waiters == 0 { CallersExecutor().start { try? await self.save() } }
    }
}

extension HTTPError {
    fileprivate static func refreshTimeout(_ allowed: Duration) -> HTTPError {
        HTTPError(.timeout, "Refreshing the credential took longer than \(allowed).")
    }

    fileprivate static func saveTimeout(_ allowed: Duration) -> HTTPError {
        HTTPError(.timeout, "Saving the credential took longer than \(allowed).")
    }
}
