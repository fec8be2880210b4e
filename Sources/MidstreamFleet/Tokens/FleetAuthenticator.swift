internal import Foundation
internal import Interception
public import MidstreamAuthentication
public import MidstreamCore

/// What a member does about a token that is due or rejected while the store doesn't answer.
public enum TokenWhenAlone: Sendable, Hashable {
    /// It refreshes by itself, at the risk that several do: for tokens that don't rotate.
    case refreshAlone
    /// It uses the old token until that expires, and then calls fail until the store is back: for refresh tokens that can be used
    /// once.
    case useOldUntilExpired
    /// Calls wait for the store to come back, within their deadlines and the `refreshTimeout` of their ``AuthenticationInterceptor``.
    case waits
}

/// Refreshes a token once for all members of a fleet; see ``Fleet/sharing(_:as:whenAlone:refreshTimeout:reuseInterval:)``.
///
/// What a refresh brings is found by the others in the store, sealed. The member that asks the issuer holds a lock for as long as that
/// may take, and any failure gives it back. What comes too late is refused by the store: tokens and logins are numbered.
///
/// What a client begins with counts as older than what the fleet has. ``AuthenticationInterceptor/logIn(_:)`` begins a login for all, and so does
/// another credential that is set later; a logout ends it for all. The others find that when their own token is due or rejected.
public struct FleetAuthenticator<Base: Authenticator>: Authenticator where Base.Credential == OAuthToken {
    private let base: Base
    private let shared: SharedToken
    private let core: FleetCore
    private let whenAlone: TokenWhenAlone?
    private let refreshTimeout: Duration
    private let lease: Duration

    /// What the lock lasts beyond the refresh, for the write after it.
    private static var margin: Duration { .seconds(15) }
    /// How often a lock is asked for anew at most that was granted too long ago.
    private static var mostStops: Int { 5 }

    init(
        _ base: Base, _ core: FleetCore, name: String, whenAlone: TokenWhenAlone?, refreshTimeout: Duration,
        reuseInterval: Duration?
    ) {
        self.base = base
        self.core = core
        self.whenAlone = whenAlone
        self.refreshTimeout = refreshTimeout
        lease = reuseInterval.map { min($0, refreshTimeout + Self.margin) } ?? refreshTimeout + Self.margin
        shared = core.sharedToken(name)
    }

    /// As the authenticator behind it does.
    public var keepsOwnAuthorization: Bool { base.keepsOwnAuthorization }
    /// As the authenticator behind it does.
    public func fixedCredential() throws -> OAuthToken? { try base.fixedCredential() }
    /// As the authenticator behind it does.
    public func apply(_ credential: OAuthToken, to request: inout HTTPRequest) async throws {
        try await base.apply(credential, to: &request)
    }
    /// As the authenticator behind it does.
    public func isRejected(_ response: HTTPResponse, using credential: OAuthToken) -> Bool {
        base.isRejected(response, using: credential)
    }
    /// As the authenticator behind it does.
    public func needsRefresh(_ credential: OAuthToken) -> Bool { base.needsRefresh(credential) }

    /// The token that the fleet has, or else one that this member obtains for all.
    ///
    /// - Throws: ``FleetRefreshError``; ``RefreshRefusal/loginEnded`` when the fleet's login has ended; ``HTTPError/Code/timeout`` when the issuer
    ///   takes longer than it may; `CancellationError`; what the authenticator behind it throws.
    public func refresh(_ credential: OAuthToken?) async throws -> OAuthToken {
        let holder = core.newHolder()
        // A lock that was granted after all, to a request whose answer didn't come in time, is given back.
        var asked: TokenRecord?
        defer { if let asked { shared.release(mayHoldAs: holder, of: asked, for: lease) } }
        var (pause, stops) = (Duration.milliseconds(20), 0)
        // Since when this call has heard of nothing else than that the store has forgotten the token.
        var lost: Duration?
        while true {
            try Task.checkCancellation()
            let (mine, heard, begin) = (shared.held(for: credential), core.newsHeard, core.stopwatch.elapsed)
            // Another call of this process may have been quicker.
            if let token = mine.token, token != credential, !base.needsRefresh(token) { return await saved(token) }
            // A store that forgets it again and again gives no more time to who may know a newer one.
            let grace = lost.map { begin - $0 >= self.grace } == true ? Duration.zero : self.grace
            switch await core.store.takeToken(shared.name, insteadOf: mine.record, holder: holder, lease: lease, grace: grace) {
            case .failure:
                (asked, lost) = (mine.record, nil)
                // The first connection may be waited for long enough to be cancelled meanwhile.
                try Task.checkCancellation()
                if let token = try await alone(mine, credential, holder) {
                    // What this member has spent alone is nobody's turn before the store has the next one.
                    if token != credential, token != mine.token { asked = TokenRecord.none }
                    return token
                }
                try await core.timer.sleep(for: min(pause, .milliseconds(100)))
            case .success(.mine):
                // A process that was stopped while the answer was on its way may have lost the lock since. Who asks again keeps it, or finds
                // what another member has obtained.
                if stops < Self.mostStops, isLate(since: begin) {
                    (asked, stops) = (mine.record, stops + 1)
                    continue
                }
                asked = nil
                return try await obtained(insteadOf: mine, holder, since: begin)
            case .success(.other(let record)):
                guard mine.isOlder(than: record) else {
                    _ = await shared.offer(grace: grace)
                    continue
                }
                lost = nil
                try adopt(record)
            case .success(.held(let left, afterLoss: let afterLoss)):
                lost = afterLoss ? lost ?? core.stopwatch.elapsed : nil
                await core.news(of: shared.name, since: heard, within: min(pause, max(left, .milliseconds(1))))
                pause = min(pause * 2, .seconds(1))
            case .success(.failed(let left)): throw FleetRefreshError(code: .failed, retryAfter: left)
            case .success(.dead): throw FleetRefreshError(code: .dead, retryAfter: .seconds(1))
            }
        }
    }

    /// Hands the credential to the authenticator behind it, and to the fleet if it is a new login or logout.
    public func save(_ credential: OAuthToken?) async throws {
        let present = shared.present
        // What was held before, or is due, comes from a client that hasn't heard of the present one.
        let isStale = credential.map { shared.hasHeld($0) || present.record.generation > 0 && base.needsRefresh($0) } ?? false
        let isFirst = present.record.generation == 0
        if isFirst, credential != nil {
            _ = shared.held(for: credential)
        } else if isFirst || credential != present.token && !isStale {
            // A member that knows of no token may end the others' login.
            try await shared.replace(with: credential)
        }
        try await base.save(credential)
    }

    /// Takes what the store has. One that can't be opened is given up where another one spends nothing.
    private func adopt(_ record: TokenRecord) throws {
        if let newer = shared.adopt(record, grace: grace) {
            guard newer.token != nil else { throw RefreshRefusal.loginEnded }
        } else if isByClientCredentials {
            shared.adopt(nil, record)
        } else {
            throw FleetRefreshError(code: .unreadable, retryAfter: .seconds(1))
        }
    }

    private func saved(_ token: OAuthToken) async -> OAuthToken {
        try? await base.save(token)
        return token
    }

    /// Has the authenticator behind it go on from what the fleet has; after a logout that is no token.
    private func hand(over mine: SharedToken.Held) async {
        if mine.record.generation > 0 { try? await base.save(mine.token) }
    }

    /// A token that doesn't rotate may be refreshed twice.
    private var grace: Duration {
        isByClientCredentials || whenAlone == .refreshAlone ? .zero : core.grace
    }

    private var isByClientCredentials: Bool {
        if case .clientCredentials = (base as? OAuthAuthenticator)?.grant { true } else { false }
    }

    /// Whether a lock that was asked for then may be another member's before the issuer has been asked.
    private func isLate(since begin: Duration) -> Bool { core.stopwatch.elapsed - begin >= min(Self.margin, lease / 2) }

    /// Asks the issuer, for all.
    ///
    /// - Parameter begin: When the lock was asked for.
    private func obtained(insteadOf mine: SharedToken.Held, _ holder: String, since begin: Duration) async throws -> OAuthToken {
        do {
            await hand(over: mine)
            // It may have been stopped here as well.
            guard !isLate(since: begin) else { throw FleetRefreshError(code: .late, retryAfter: .milliseconds(100)) }
            let (token, record) = try await refreshed(mine)
            switch await core.store.writeToken(record, as: shared.name, holder: holder) {
            case .success(true): return token
            case .success(false):
                // Too late for the lock. What is newer than the one replaced was obtained by another member.
                if let newer = try await newer(than: record, holder) { return newer }
            case .failure: break
            }
            shared.offerInBackground(holder: holder)
            return token
        } catch {
            let isDead = (error as? OAuthError)?.code.endsGrant == true && !spendsNothing(mine)
            let pause = min(max(.zero, (error as? any PostponedRefresh)?.retryAfter ?? .zero), .seconds(86_400))
            shared.release(
                mayHoldAs: holder, of: mine.record, pause: error is CancellationError ? nil : pause, isDead: isDead, for: lease)
            guard isDead else { throw error }
            // The lock may have expired, and another member been quicker.
            if let newer = try await newer(than: mine.record, "") { return newer }
            throw FleetRefreshError(code: .dead, retryAfter: .seconds(1))
        }
    }

    /// What the issuer gives in place of a token, within the time that it may take, and also what it gives later than that: it may have taken
    /// the old one for it. From then on it is this member's.
    private func refreshed(_ mine: SharedToken.Held) async throws -> (token: OAuthToken, record: TokenRecord) {
        let late: @Sendable (Duration) -> HTTPError = {
            HTTPError(.timeout, "Refreshing the fleet's token took longer than \($0).")
        }
        let token = try await TimeLimit(refreshTimeout, on: core.stopwatch.clock).obtain(error: late) { [base] in
            try await base.refresh(mine.token)
        }
        let record = try shared.advance(to: token, from: mine.record)
        core.noteRefresh()
        return (token, record)
    }

    /// What the store has by now, if that is newer.
    ///
    /// - Throws: ``RefreshRefusal/loginEnded`` if that is no token.
    private func newer(than record: TokenRecord, _ holder: String) async throws -> OAuthToken? {
        guard let there = await shared.offer(holder: holder), there.isNewer(than: record),
            let newer = shared.adopt(there, grace: grace)
        else { return nil }
        guard let token = newer.token else { throw RefreshRefusal.loginEnded }
        return await saved(token)
    }

    /// Whether a refresh spends no refresh token. Where no token is known yet, the authenticator's own store may have one.
    private func spendsNothing(_ mine: SharedToken.Held) -> Bool {
        isByClientCredentials || mine.record.generation > 0 && mine.token?.refreshToken == nil
    }

    /// What is done while the store doesn't answer; nil: wait.
    private func alone(_ mine: SharedToken.Held, _ credential: OAuthToken?, _ holder: String) async throws -> OAuthToken? {
        switch whenAlone ?? (spendsNothing(mine) ? .refreshAlone : .useOldUntilExpired) {
        case .waits: return nil
        case .useOldUntilExpired:
            // By the clock that the end was reckoned with.
            let now = (base as? OAuthAuthenticator)?.now() ?? Date()
            // Another client of this member may have had a later one than this.
            for token in [mine.token, credential].compactMap({ $0 }) {
                if let end = token.expires, end > now { return token }
            }
            throw FleetRefreshError(code: .alone, retryAfter: .milliseconds(100))
        case .refreshAlone:
            await hand(over: mine)
            let (token, _) = try await refreshed(mine)
            shared.offerInBackground(holder: holder)
            return token
        }
    }
}

extension FleetAuthenticator: LoginSaving {
    /// As ``save(_:)``, but what was set is never taken for a client's that hasn't heard of the present one. A logout counts although none is
    /// known to this member: somebody may have logged in since.
    package func saveLogin(_ credential: OAuthToken?, isFirst: Bool) async throws {
        let present = shared.present
        guard credential == nil || (present.record.generation > 0 || !isFirst) && credential != present.token else {
            return try await save(credential)
        }
        try await shared.replace(with: credential)
        // Not judged again: somebody may have logged in since.
        try await base.save(credential)
    }

    /// What a client begins with begins no login: it is older than all that the fleet has.
    package func saveInitial(_ credential: OAuthToken) async throws {
        guard shared.held(for: credential).token == credential else { return }
        try await base.save(credential)
    }
}

extension FleetAuthenticator: CredentialExpiring {
    /// As the authenticator behind it does, if that does.
    package func hasEnded(_ credential: OAuthToken) -> Bool {
        (base as? any CredentialExpiring<OAuthToken>)?.hasEnded(credential) ?? true
    }
}

extension FleetAuthenticator: CredentialReturning {
    package func hasReturned(_ credential: OAuthToken, insteadOf old: OAuthToken) -> Bool { credential == old }
}

extension FleetAuthenticator: Degradable {
    package var degradation: String? { core.degradation }
}

extension FleetAuthenticator: CustomStringConvertible, CustomReflectable {
    /// The authenticator behind it.
    public var description: String { "\(base), shared by a fleet" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["base": "\(Base.self)"]) }
}
