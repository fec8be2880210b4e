internal import Interception

/// Lets what came of a request be stored only when nothing made it wrong since it was sent (RFC 9111 §4.4 speaks of what is stored; a
/// response that is on its way is as wrong).
///
/// What is taken back is numbered, and remembered as long as an exchange is under way that began before. Most exchanges see nothing taken back,
/// which one comparison tells.
final class FetchPermits: Sendable {
    /// That of one exchange, until its last reference is let go of.
    final class Permit: Sendable {
        private let key: CacheKey
        /// How often something had been taken back when it was given.
        private let number: UInt64
        private let permits: FetchPermits

        fileprivate init(_ key: CacheKey, _ number: UInt64, _ permits: FetchPermits) {
            self.key = key
            self.number = number
            self.permits = permits
        }

        deinit { permits.forget() }

        var holds: Bool { permits.hasTakenBackNothing(of: key, since: number) }
    }

    private struct State {
        /// How many are given.
        var given = 0
        /// How often something was taken back.
        var number: UInt64 = 0
        /// When that was last done for URLs and for origins; those of no permit that is given are forgotten.
        var urls: [String: UInt64] = [:]
        var origins: [String: UInt64] = [:]
        /// When everything was.
        var all: UInt64 = 0
    }

    /// How many URLs and origins are remembered; with more, everything counts as taken back.
    private static let maximum = 10_000
    private let state = Locked(State())

    /// Gives one for a URL.
    func give(_ key: CacheKey) -> Permit {
        let number = state.withLock { state in
            state.given += 1
            return state.number
        }
        return Permit(key, number, self)
    }

    /// Takes back those of a URL.
    func revoke(_ url: String) { takeBack { $0.urls[url] = $1 } }

    /// Takes back those of an origin; nil: all.
    func revokeAll(origin: String?) {
        takeBack { state, number in
            if let origin { state.origins[origin] = number } else { state.all = number }
        }
    }

    private func takeBack(_ note: (inout State, UInt64) -> Void) {
        state.withLock { state in
            // Whoever begins later has nothing to do with it.
            guard state.given > 0 else { return }
            state.number += 1
            note(&state, state.number)
            if state.urls.count + state.origins.count > Self.maximum {
                (state.urls, state.origins, state.all) = ([:], [:], state.number)
            }
        }
    }

    private func hasTakenBackNothing(of key: CacheKey, since number: UInt64) -> Bool {
        state.withLock { state in
            if state.number == number { return true }
            guard state.all <= number, state.urls[key.url] ?? 0 <= number else { return false }
            return state.origins.isEmpty || state.origins[key.origin] ?? 0 <= number
        }
    }

    private func forget() {
        state.withLock { state in
            state.given -= 1
            guard state.given == 0, !state.urls.isEmpty || !state.origins.isEmpty else { return }
            (state.urls, state.origins) = ([:], [:])
        }
    }
}
