internal import Interception
internal import MidstreamCore

/// The present credential and what is known of its refreshes: one for each interceptor, or one for all whose authenticators share a
/// store.
final class Login<Credential: Sendable>: Sendable {
    /// A credential and its place in the order of those that there have been.
    struct Held: Sendable {
        let credential: Credential
        let generation: Int
        /// The number of the login that it belongs to.
        let login: Int
        /// The number of the refresh that has brought it; nil when it was set.
        let refresh: Int?
        /// Whether a call has told what that refresh was good for.
        let isTried: Bool
    }

    /// What became of the saving of a generation.
    typealias Saving = (generation: Int, outcome: Result<Void, any Error>)

    struct State {
        private(set) var credential: Credential?
        /// Counts up with each credential, nil ones included.
        private(set) var generation = 0
        /// Counts up with each login and logout: a call isn't sent with a credential of another login.
        private(set) var number = 0
        /// When that login or logout was, by the system's clock: calls that began before belong to another login.
        private(set) var beginning = Int64.min
        /// Which refresh has brought the credential; nil: none.
        private var source: Int?
        /// Whether a call has told what that refresh was good for.
        private var isTried = true
        /// How many refreshes have failed. A call fails with those that come after its beginning, and starts none in their place.
        var failures = 0
        var lastFailure: (any Error)?
        /// The generations that the refreshes under way replace, by the numbers of the refreshes.
        var running: [Int: Int] = [:]
        var refreshes = 0
        var history = RefreshHistory()
        /// How long no refresh is tried. Without a failure that goes for a credential that is due, which is used meanwhile.
        var refreshPause = Backoff()
        /// Whether the credential, or that there is none, was set and not begun with or refreshed, and the authenticator hasn't heard of it.
        var isTold = false
        /// Whether what was set is the first that there has been, and begins no login.
        var isFirst = false
        /// Whether it is what an interceptor began with.
        var isInitial = false
        /// Whether the credential, or that there is none, has been saved.
        var isSaved = true
        /// How long saving isn't tried again.
        var savePause = Backoff()
        /// What all times are measured by.
        let stopwatch: Stopwatch

        init(_ stopwatch: Stopwatch) { self.stopwatch = stopwatch }

        var held: Held? {
            credential.map { Held(credential: $0, generation: generation, login: number, refresh: source, isTried: isTried) }
        }

        /// The generation that is to be saved; nil: none.
        var unsaved: Int? { isSaved ? nil : generation }

        /// Whether a refresh of the credential is under way.
        var isRefreshing: Bool { running.values.contains(generation) }

        /// Whether a call began with this login; true where there is no call.
        func isMeant(for call: Call?) -> Bool { call.map { $0.beginning >= beginning } ?? true }

        /// Begins another login, or none after a logout.
        mutating func beginAnother() {
            number += 1
            beginning = continuousNanoseconds()
        }

        /// Notes what a call has told about a refresh.
        mutating func note(_ use: RefreshHistory.Use, of refresh: Int) {
            history.note(use, of: refresh)
            if refresh == source { isTried = true }
        }

        /// Replaces the credential, which has to be saved then.
        mutating func replace(with credential: Credential?, source: Int?) {
            self.credential = credential
            self.source = source
            isTried = source == nil
            generation += 1
            lastFailure = nil
            refreshPause = Backoff()
            isTold = false
            isInitial = false
            isSaved = false
            savePause = Backoff()
        }
    }

    let state: Locked<State>
    /// By the generation that is to be replaced, so that nobody gets the outcome of a refresh that was begun for another one.
    let flight = SingleFlight<Int, Result<Held, any Error>>()
    /// One after the other, so that the last one wins in the store too.
    let saves = SingleFlight<Never, Saving>()

    init(on clock: any Clock<Duration>) { state = Locked(State(Stopwatch(on: clock))) }
}

/// An authenticator to which it matters whether a credential was set, is what an interceptor began with, or was given by a refresh.
package protocol LoginSaving<Credential>: Authenticator {
    /// Called in place of ``Authenticator/save(_:)`` with a credential that was set, once: it is saved again as any other.
    ///
    /// - Parameter isFirst: Whether it begins no login, and the interceptor has had no other before.
    func saveLogin(_ credential: Credential?, isFirst: Bool) async throws
    /// Called in place of ``Authenticator/save(_:)`` with what an interceptor began with.
    func saveInitial(_ credential: Credential) async throws
}

/// An authenticator whose refresh gives back the credential that it was called with while nobody can be asked for another one.
package protocol CredentialReturning<Credential>: Authenticator {
    /// Whether a refresh has done so.
    func hasReturned(_ credential: Credential, insteadOf old: Credential) -> Bool
}

/// An authenticator that knows when its credentials end.
package protocol CredentialExpiring<Credential>: Authenticator {
    /// Whether servers don't take a credential any more.
    func hasEnded(_ credential: Credential) -> Bool
}

/// An authenticator whose interceptors share a login with those of other authenticators.
protocol LoginSharing<Credential>: Authenticator {
    /// The login; made with the clock on first use.
    func login(on clock: any Clock<Duration>) -> Login<Credential>
}
