internal import Interception
internal import MidstreamCore

/// A token store with what it couldn't be given yet, and the login of the interceptors that use it. There is one of each store.
final class StoredTokens: Sendable {
    private struct State {
        /// What the store couldn't be given.
        var unsaved: OAuthToken??
        /// What the store holds, as far as is known.
        var known: OAuthToken?
        var login: Login<OAuthToken>?
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
        // Another one may have been made for the key meanwhile.
        Self.all.withLock { if $0[key]?.tokens == nil { $0[key] = nil } }
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
        if let unsaved = state.withLock({ $0.unsaved }) { return unsaved }
        let token = try await store.load()
        state.withLock { $0.known = token }
        return token
    }

    func save(_ token: OAuthToken?) async throws {
        // What came from the store isn't written back: it may hold a newer one by now.
        let isKnown = state.withLock { state in
            state.unsaved = .some(token)
            return token != nil && token == state.known
        }
        if !isKnown { try await store.save(token) }
        state.withLock { state in
            state.unsaved = nil
            state.known = token
        }
    }
}
