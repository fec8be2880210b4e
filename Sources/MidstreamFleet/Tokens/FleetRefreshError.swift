public import MidstreamAuthentication
package import MidstreamCore

/// Why a fleet has no token at present: the error behind ``HTTPError/Code/authentication``. None of these counts in the
/// limit on refreshes.
public struct FleetRefreshError: PostponedRefresh, Sendable, Hashable, CustomStringConvertible {
    /// The kind of trouble.
    public enum Code: Sendable, Hashable {
        /// The store can't be reached, and this member may not refresh alone.
        case alone
        /// A refresh has failed, of this member or another, and isn't tried again yet.
        case failed
        /// The issuer has refused the token for good: somebody has to log in again.
        case dead
        /// The store holds a token that none of this member's keys opens, and which isn't obtained anew, as by client credentials.
        case unreadable
        /// This process was stopped for so long that its right to refresh is no longer sure.
        case late
    }

    /// The kind of trouble.
    public let code: Code
    /// After how long it may be tried again.
    public let retryAfter: Duration

    /// What has happened, in a sentence.
    public var description: String { "There is no token: \(publicReason)." }
}

extension FleetRefreshError: PublicRefusal {
    package var publicReason: String {
        switch code {
        case .alone: "the fleet's store can't be reached, and this member may not refresh alone"
        case .failed: "a member of the fleet has failed to refresh it, and it isn't tried again yet"
        case .dead: "the issuer refused the fleet's token for good, and somebody has to log in again"
        case .unreadable: "the fleet's token is sealed with a key that this member hasn't got"
        case .late: "this process was stopped for too long to refresh it safely"
        }
    }

    package var status: HTTPStatus? { nil }
    package var needsLogin: Bool { code == .dead }
}
