public import MidstreamAuthentication
package import MidstreamCore

/// Why a fleet has no token at present: the error behind ``HTTPError/Code/authentication``. None of these counts in the
/// ``RefreshLimit``.
public struct FleetRefreshError: PostponedRefresh, Sendable, Hashable, CustomStringConvertible {
    /// The kind of trouble.
    public enum Code: Sendable, Hashable {
        /// The store can't be reached, and this member may not refresh alone.
        case alone
        /// A refresh has failed, of this member or another, and isn't tried again yet.
        case failed
        /// The issuer has refused the token for good: somebody has to log in again.
        case dead
        /// The store holds a token that none of this member's keys opens.
        case unreadable
        /// This process was stopped for so long that its right to refresh is no longer sure.
        case late
    }

    /// The kind of trouble.
    public let code: Code
    /// After how long it may be tried again.
    public let retryAfter: Duration

    /// What has happened, in a sentence.
    public var description: String {
        switch code {
        case .alone: "The store of the fleet can't be reached, and this member may not refresh the token alone."
        case .failed: "A member of the fleet couldn't refresh the token, and it isn't tried again yet."
        case .dead: "The issuer has refused the fleet's token for good: somebody has to log in again."
        case .unreadable: "The fleet's token is sealed with a key that this member hasn't got."
        case .late: "This process was stopped for too long to refresh the fleet's token safely."
        }
    }
}

extension FleetRefreshError: PublicRefusal {
    package var publicReason: String {
        switch code {
        case .alone: "the fleet's store can't be reached"
        case .failed: "a refresh for the fleet has failed"
        case .dead: "the issuer refused the fleet's token for good"
        case .unreadable: "the fleet's token is sealed with another key"
        case .late: "the process was stopped during a refresh"
        }
    }

    package var status: HTTPStatus? { nil }
}
