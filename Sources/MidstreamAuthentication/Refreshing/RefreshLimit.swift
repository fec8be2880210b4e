internal import MidstreamCore

/// How often credentials may be refreshed, so that a server that refuses good credentials isn't asked for new ones for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// How many refreshes, failed ones included, may begin within the window; 5 by default.
    public var count: Int
    /// The length of the window; 30 s by default.
    public var window: Duration

    /// Makes a limit.
    public init(count: Int = 5, window: Duration = .seconds(30)) {
        self.count = count
        self.window = window
    }

    /// No limit.
    public static let none = RefreshLimit(count: .max, window: .zero)
}

/// A refresh was refused because there have been too many; the error behind ``HTTPError/Code/authentication``.
///
/// It usually means that the server refuses requests for another reason than the credential.
public struct ExcessiveRefreshError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The limit that was reached.
    public let limit: RefreshLimit

    /// Makes the error, as tests do.
    public init(limit: RefreshLimit) { self.limit = limit }

    /// Says how many refreshes in what time were too many.
    public var description: String {
        "The credential has been refreshed \(limit.count) times within \(limit.window) without success, and not again yet."
    }
}

/// The beginnings of recent refreshes, which a limit is held against.
struct RefreshHistory: Sendable {
    private let limit: RefreshLimit
    private var beginnings: [Duration] = []

    init(_ limit: RefreshLimit) { self.limit = limit }

    /// Notes a refresh that is to begin now.
    ///
    /// - Throws: ``ExcessiveRefreshError`` when it may not.
    mutating func begin(at now: Duration) throws {
        guard limit.count < .max else { return }
        beginnings.removeAll { now - $0 >= limit.window }
        guard beginnings.count < limit.count else { throw ExcessiveRefreshError(limit: limit) }
        beginnings.append(now)
    }
}
