/// How often credentials may be refreshed in vain, so that a server that refuses good credentials isn't asked for new ones for ever.
struct RefreshLimit: Sendable {
    let count: Int
    let window: Duration
}

/// Why there is no credential although nothing failed: the error behind ``HTTPError/Code/authentication``.
public enum RefreshRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// There have been as many refreshes in vain as the limit allows. Usually the server refuses requests for another reason than
    /// the credential.
    case tooManyRefreshes(Int, within: Duration)
    /// The credential was taken away, or another login began, while a call was waiting for a new one or to be sent.
    case loginEnded

    /// The reason in a sentence.
    public var description: String {
        switch self {
        case .tooManyRefreshes(let count, let window):
            "The credential has been refreshed \(count) times within \(window) without success, and not again yet."
        case .loginEnded: "The login that the call belongs to has ended."
        }
    }
}

/// Recent refreshes. Those count against a limit that nobody was accepted with, or that were in vain.
struct RefreshHistory: Sendable {
    private struct Entry {
        let number: Int
        let beginning: Duration
        var isAccepted = false
        var isInVain = false

        var counts: Bool { isInVain || !isAccepted }
    }

    /// What the credential that a refresh has brought was good for.
    enum Use {
        /// A call whose older one had been rejected was accepted with it.
        case helped
        /// Such a call was rejected again, whatever becomes of others; or it is due at once.
        case inVain
        /// A call that began with it was accepted.
        case accepted
    }

    private var entries: [Entry] = []

    /// Notes a refresh that is to begin now.
    ///
    /// - Throws: ``RefreshRefusal/tooManyRefreshes(_:within:)`` when it may not.
    mutating func begin(_ number: Int, at now: Duration, limit: RefreshLimit) throws {
        guard limit.count < .max else { return }
        entries.removeAll { now - $0.beginning >= limit.window }
        guard entries.filter(\.counts).count < limit.count else {
            throw RefreshRefusal.tooManyRefreshes(limit.count, within: limit.window)
        }
        entries.append(Entry(number: number, beginning: now))
    }

    /// Notes what a refresh was good for.
    mutating func note(_ use: Use, of number: Int) {
        guard let place = entries.firstIndex(where: { $0.number == number }) else { return }
        switch use {
        case .helped: entries.remove(at: place)
        case .inVain: entries[place].isInVain = true
        case .accepted: entries[place].isAccepted = true
        }
    }

    /// Strikes out a refresh that has brought what it was needed for, or that nobody has answered.
    mutating func forget(_ number: Int) { entries.removeAll { $0.number == number } }
}
