internal import Interception

/// A token store with what it couldn't be given yet, and the login of the interceptors that use it. There is one of each store.
final class StoredTokens: Sendable {
    private struct State {
        /// What the store couldn't be given.
        var unsaved: OAuthToken??
        /// What the store holds, as far as is known.
        var known: OAuthToken?
        /// What a refresh has brought.
        var refreshed: OAuthToken?
        /// What a refresh had brought and isn't saved any more, since another process has changed the store.
        var overtaken: OAuthToken?
        var login: Login<OAuthToken>?

        /// Whether what another process puts into the store counts more than what it couldn't be given.
        var canBeOvertaken: Bool { refreshed != nil && unsaved == .some(refreshed) }
    }

    let store: any TokenStore
    private let state = Locked(State())

    private struct Weak { weak var tokens: StoredTokens? }
    private static let all = Locked<[AnyHashable: Weak]>([:])

    /// The one of a store: of the same object, or of an equal value. A value that can't be compared has one of its own.
    static func of(_ store: any TokenStore) -> StoredTokens {
        guard let key = key(of: store) else { return StoredTokens(store) }
        return all.withLock { all in
            if let tokens = all[key]?.tokens { return tokens }
            let tokens = StoredTokens(store)
            all[key] = Weak(tokens: tokens)
            return tokens
        }
    }

    private static func key(of store: any TokenStore) -> AnyHashable? {
        type(of: store) is AnyClass ? AnyHashable(ObjectIdentifier(store as AnyObject)) : store as? AnyHashable
    }

    private init(_ store: any TokenStore) { self.store = store }

    deinit {
        guard let key = Self.key(of: store) else { return }
        // Another one may have been made for the key meanwhile. If this is its last reference, it takes the lock as well.
        let other = Self.all.withLock { all -> StoredTokens? in
            let other = all[key]?.tokens
            if other == nil { all[key] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }

    func login(on clock: any Clock<Duration>) -> Login<OAuthToken> {
        state.withLock { state in
            let login = state.login ?? Login(on: clock)
            state.login = login
            return login
        }
    }

    /// The token that is to be used, whether or not the store has been given it.
    func load() async throws -> OAuthToken? {
        let before = state.withLock { $0 }
        guard let unsaved = before.unsaved else { return try await stored(since: before) }
        guard before.canBeOvertaken else { return unsaved }
        // A store that can't be read now must not cost the token.
        do { return try await stored(since: before) } catch { return unsaved }
    }

    /// What the store holds, or what it couldn't be given, unless another process has changed it since.
    private func stored(since before: State) async throws -> OAuthToken? {
        let token = try await store.load()
        // A store may keep times less exactly.
        if before.canBeOvertaken, token?.accessToken == before.known?.accessToken { return before.refreshed }
        state.withLock { state in
            state.known = token
            guard before.canBeOvertaken, state.unsaved == before.unsaved else { return }
            state.overtaken = before.refreshed
            state.unsaved = nil
        }
        return token
    }

    /// Notes what a refresh has brought: when the store can't be given it at once, what another process puts there counts more.
    func note(refreshed token: OAuthToken) { state.withLock { $0.refreshed = token } }

    func save(_ token: OAuthToken?) async throws {
        let before = state.withLock { $0 }
        if before.canBeOvertaken, token == before.refreshed { _ = try await stored(since: before) }
        let (isKnown, isOvertaken) = state.withLock { state -> (Bool, Bool) in
            guard token == nil || token != state.overtaken else { return (false, true) }
            state.overtaken = nil
            state.unsaved = .some(token)
            return (token != nil && token == state.known, false)
        }
        guard !isOvertaken else { return }
        // What came from the store isn't written back: it may hold a newer one by now.
        if !isKnown { try await store.save(token) }
        state.withLock { state in
            state.unsaved = nil
            state.known = token
        }
    }
}
