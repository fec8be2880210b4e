internal import MidstreamCore

/// How often credentials may be refreshed in vain, so that a server that refuses good credentials isn't asked for new ones for ever.
///
/// In vain is a refresh that is refused, or brings a credential that is due at once or rejected like the one before it. Others don't
/// count, however many there are: tokens may live as short as they like. Nor does one that nobody has answered, or whose answer is 429
/// or 5xx: the next one is then begun 100 ms later at the earliest, which doubles each time up to 5 s. See also ``PostponedRefresh``.
public struct RefreshLimit: Sendable, Hashable {
    /// How many refreshes within the window may be in vain; 5 by default. Those that are under way count until they have helped.
    public var count: Int
    /// The length of the window; 30 s by default.
    public var window: Duration

    /// Makes a limit.
    public init(count: Int = 5, window: Duration = .seconds(30)) {
        self.count = count
        self.window = window
    }

    /// Any number.
    public static let unlimited = RefreshLimit(count: .max, window: .zero)
}

/// Why there is no credential although nothing failed: the error behind ``HTTPError/Code/authentication``.
public enum RefreshRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// There have been as many refreshes in vain as the limit allows. Usually the server refuses requests for another reason than
    /// the credential.
    case tooManyRefreshes(RefreshLimit)
    /// The credential was taken away, or another login began, while a call was waiting for a new one.
    case loginEnded

    /// The reason in a sentence.
    public var description: String {
        switch self {
        case .tooManyRefreshes(let limit):
            "The credential has been refreshed \(limit.count) times within \(limit.window) without success, and not again yet."
        case .loginEnded: "The login has ended while the call was waiting for a new credential."
        }
    }
}

/// The beginnings of recent refreshes that haven't helped, which a limit is held against.
struct RefreshHistory: Sendable {
    private struct Entry {
        let number: Int
        let beginning: Duration
    }

    private var entries: [Entry] = []

    /// Notes a refresh that is to begin now.
    ///
    /// - Throws: ``RefreshRefusal/tooManyRefreshes(_:)`` when it may not.
    mutating func begin(_ number: Int, at now: Duration, limit: RefreshLimit) throws {
        guard limit.count < .max else { return }
        entries.removeAll { now - $0.beginning >= limit.window }
        guard entries.count < limit.count else { throw RefreshRefusal.tooManyRefreshes(limit) }
        entries.append(Entry(number: number, beginning: now))
    }

    /// Strikes out a refresh that has brought what it was needed for, or that nobody has answered.
    mutating func forget(_ number: Int) { entries.removeAll { $0.number == number } }
}
