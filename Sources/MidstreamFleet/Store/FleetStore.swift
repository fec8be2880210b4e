package import MidstreamResilience

/// Why the store gave no answer.
package enum StoreFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// None came within the patience.
    case timedOut
    /// It isn't asked at present, or the connection broke.
    case unreachable(String)
    /// It takes no commands of this kind at present, such as writes.
    case unwilling(String)
    /// It refused this one command.
    case refused(String)

    package var description: String {
        switch self {
        case .timedOut: "no answer in time"
        case .unreachable(let reason): reason
        case .unwilling(let reason), .refused(let reason): "refused with \(reason)"
        }
    }

    /// Whether it says something about the store and not about one command.
    var concernsAll: Bool { if case .refused = self { false } else { true } }
}

package typealias Answer<Value> = Result<Value, StoreFailure>

/// A token in the order of all that a fleet has had: by login, then by generation, and within one the later one counts.
package struct TokenRecord: Sendable, Equatable {
    /// Counts up with each login and logout of which the members have told each other.
    package var login: Int64 = 0
    /// Counts up with each refresh and login; 0: there has been none.
    package var generation: Int64
    /// In milliseconds since 1970, by the clock of who obtained it.
    package var obtained: Int64
    /// Sealed; empty: the login has ended.
    package var token: [UInt8]
    /// Whether the issuer has refused it for good.
    package var isDead = false

    package static let none = TokenRecord(generation: 0, obtained: 0, token: [])

    package func isNewer(than other: TokenRecord) -> Bool {
        (login, generation, obtained) > (other.login, other.generation, other.obtained)
    }
}

/// What became of the wish to begin or end a login.
package struct BegunLogin: Sendable, Equatable {
    /// The login's number.
    package var login: Int64
    /// The token that is there now, which may be one of a later login.
    package var there: TokenRecord
}

/// The answer to a member that wants to refresh a token.
package enum TokenTurn: Sendable, Equatable {
    /// It has the lock, and may ask the issuer.
    case mine
    /// There is another token than the one to be refreshed.
    case other(TokenRecord)
    /// Another member is at it, for so long at most; or, after a loss, the store has forgotten the token, which members may put back as long.
    case held(Duration, afterLoss: Bool)
    /// It has been tried in vain, and isn't tried again before.
    case failed(Duration)
    /// The issuer has refused the token for good.
    case dead
}

/// A response as the store keeps it.
package struct StoredResponse: Sendable, Equatable {
    /// How many bytes a body has at most that is kept.
    package static let longestBody = 4 << 20

    package var id: UInt64
    /// Stands for the requests that it answers: it takes the place of those that answer the same.
    package var variant: String
    package var head: [UInt8]
    /// Which bytes are kept under which names.
    package var pieces: [Piece]

    package struct Piece: Sendable, Equatable {
        package var offset: Int64
        package var length: Int64
        package var name: String
    }
}

/// The responses of a key, the newest first, and what they were valid by.
package struct StoredResponses: Sendable, Equatable {
    package var all: [StoredResponse]
    /// When all, the origin and the URL were last removed, or first kept; empty where the store doesn't know.
    package var stamps: [String]
    /// The time by the store's clock, in microseconds since 1970: when another one begins to come, if one does.
    package var begun: Int64
}

/// The names under which a cache key's responses and removals are kept.
package struct ResponseKeys: Sendable, Equatable {
    package var responses: String
    /// Of all, of the origin, of the URL.
    package var stamps: [String]
}

/// A response that is to be kept.
package struct ResponseCommit: Sendable {
    package var keys: ResponseKeys
    package var response: StoredResponse
    /// As they were when its bytes began to come.
    package var stamps: [String]
    /// When that was, as ``StoredResponses/begun``.
    package var begun: Int64
    package var life: Duration
    package var isWhole = true
}

/// What members of a fleet share: a closed list of operations, each of them atomic.
///
/// None waits for longer than the fleet's patience, but for ``takeToken(_:insteadOf:holder:lease:grace:)`` at the beginning. Names come
/// from ``FleetNames``.
package protocol FleetStore: Sendable {
    /// Keeps a token if it is newer than the one that is there, and gives back the lock if it is the holder's.
    ///
    /// - Parameter grace: How long nobody may refresh it then, since the store has forgotten and members may know a newer one. Where the
    ///   store knew nothing of the token, they are told that it is lost.
    /// - Returns: The one that is there now.
    func offerToken(_ record: TokenRecord, as name: String, holder: String, grace: Duration) async -> Answer<TokenRecord>
    /// Asks for the right to refresh the token of `present`. It waits also for the first connection, until that is made or has failed.
    ///
    /// - Parameters:
    ///   - lease: How long the right lasts.
    ///   - grace: How long nobody gets it when the store knows nothing of the token, since members may. They are told that it is lost.
    func takeToken(
        _ name: String, insteadOf present: TokenRecord, holder: String, lease: Duration, grace: Duration
    ) async -> Answer<TokenTurn>
    /// Keeps what a refresh has brought, if the lock is still the holder's and the token still that of the login and of the generation
    /// before, and gives back the lock.
    ///
    /// - Returns: Whether it was kept.
    func writeToken(_ record: TokenRecord, as name: String, holder: String) async -> Answer<Bool>
    /// Begins a login, or ends it with an empty token: the next login and generation after those that are there, and `record`'s at
    /// least. Takes the lock from whoever has it.
    ///
    /// - Parameter wish: Has another name each time, and the same when it is tried again: what it has begun isn't begun anew, also when
    ///   there were other logins since.
    func replaceToken(_ record: TokenRecord, as name: String, wish: String) async -> Answer<BegunLogin>
    /// Gives back the lock after a failure. A token is dead whoever has the lock by now.
    ///
    /// - Parameter pause: How long nobody should try, at least; nil: it wasn't tried.
    func failToken(
        _ name: String, of record: TokenRecord, holder: String, pause: Duration?, isDead: Bool
    ) async -> Answer<Void>

    /// Takes a place in the order of requests.
    func reserve(_ name: String, _ rate: QuotaRate, waitingAtMost longest: Duration) async -> Answer<QuotaDecision>
    /// Gives back a place, without waiting.
    func giveBack(_ name: String, _ rate: QuotaRate)
    /// Takes all tokens, without waiting, so that the next comes after `wait`.
    func drain(_ name: String, _ rate: QuotaRate, wait: Duration)

    /// The responses of a key that haven't been removed, and whose removals the store hasn't forgotten.
    ///
    /// - Parameter life: How long the one is kept whose bytes begin to come; nil: none do.
    func responses(_ keys: ResponseKeys, toKeep life: Duration?) async -> Answer<StoredResponses>
    /// The bytes of pieces; nil for those that aren't there.
    func pieces(_ names: [String]) async -> Answer<[[UInt8]?]>
    /// Keeps a piece, without waiting.
    func keepPiece(_ bytes: [UInt8], as name: String, life: Duration)
    /// Keeps a response, unless it was removed since its stamps were read, is behind one that began later, or is a part where a whole one
    /// is; and its pieces for as long.
    ///
    /// - Parameter isCurrent: Called after the stamps were read: what is removed later changes them, also where it overtakes the response.
    func keep(_ commit: ResponseCommit, if isCurrent: @escaping @Sendable () -> Bool) async -> Answer<Bool>
    /// Replaces the head of a response, if that is there, and keeps it and its pieces for so long at least.
    ///
    /// - Parameter isConfirmed: Whether it is from now on as if it began just now. Otherwise it has changed, and a part may take its place.
    func update(_ keys: ResponseKeys, id: UInt64, head: [UInt8], life: Duration, isConfirmed: Bool) async -> Answer<Bool>
    /// Removes what is valid by any of some stamps.
    func remove(_ stamps: [String]) async -> Answer<Void>
}

/// So many tokens in so much time.
package struct QuotaRate: Sendable, Hashable {
    /// Microseconds a token.
    package var interval: Double
    /// How many may go at once.
    package var burst: Double
}
