internal import Foundation
public import Interception
public import MidstreamCore

/// Puts a credential on each request, and replaces it when it has expired or is rejected: once, however many calls need a new
/// one.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     AuthenticationInterceptor(BearerAuthenticator { rejected in try await session.token(insteadOf: rejected) })
/// }
/// ```
///
/// - A call that was sent with an older credential than the present one is sent again without a refresh. A new call waits for a
///   refresh that is under way.
/// - A refresh that fails makes the calls that wait for it fail with ``HTTPError/Code/authentication``, and so those that had
///   been sent before and are rejected afterwards; none is sent again. The next new call may try again, within the limit. Where nobody
///   answers, a token of OAuth's that is due is used until its end.
/// - A fresh credential that is rejected ends the call with that response, on which the validators then speak.
/// - A caller's cancellation, the attempt's timeout and the call's deadline end that caller's wait and leave the refresh, with what it sends,
///   running for the others.
/// - A call belongs to the login that was there when it began; see ``logIn(_:)``.
/// - Credentials go to their origins only. A redirect inside the attempt keeps a header within the origin and never takes it to
///   another. A credential in the query belongs at ``InterceptorStage/exchange`` (see ``HTTPInterceptor/at(_:)``), where each hop is
///   judged by itself. There it stands inside caches, and outside hedges, breakers, quotas and limits, and outside your own
///   interceptors: one that changes the host belongs at ``InterceptorStage/attempt``, or the credential goes there with it.
/// - A request whose body can be read once, and was, can't be sent again. Nor is a `POST` that was answered by a redirect when the `GET`
///   behind it is rejected, unless it may be sent twice (``HTTPRequest/allowsUnsafeRetry``). The credential is refreshed for the calls to
///   come, and the rejecting response is returned.
///
/// The rejecting response is closed before the request is sent again.
public final class AuthenticationInterceptor<A: Authenticator>: HTTPInterceptor {
    /// What knows about the credentials.
    public let authenticator: A
    private let scope: CredentialScope
    private let keeper: CredentialKeeper<A>
    /// Tells its credentials from those of others, without saying what they are.
    private let mark = UUID().uuidString

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - credential: The first one, as if it were set to ``credential``; nil, the default: the authenticator's
    ///     ``Authenticator/fixedCredential()``, or else it is obtained by a refresh when the first request needs it.
    ///   - origins: URLs whose origins get the credential. nil, the default: the origin of the client's base URL; for a client
    ///     without one, that of the first request. A text that is no http or https URL makes calls fail with
    ///     ``HTTPError/Code/invalidRequest``.
    ///   - refreshLimit: How many refreshes within the window may be in vain; 5 by default, `.max`: any number. Past it, calls that need a
    ///     refresh fail with ``HTTPError/Code/authentication`` and ``RefreshRefusal/tooManyRefreshes(_:within:)`` behind it.
    ///
    ///     In vain is a refresh that is refused, or brings a credential that is due at once or rejected like the one before it; those that
    ///     are under way count until a call was accepted with what they have brought. Others don't count, however many there are: tokens
    ///     may live as short as they like. Nor does one that nobody has answered, or whose answer is 429 or 5xx: the next one is then begun
    ///     100 ms later at the earliest, which doubles each time up to 5 s. See also ``PostponedRefresh``.
    ///   - refreshWindow: The length of the window; 30 s by default.
    ///   - refreshTimeout: How long one refresh may take until it is cancelled; 60 s by default, nil: no limit. A credential that it brings
    ///     nevertheless is used.
    ///   - clock: What the limit and the timeout are measured by; the continuous clock by default.
    public init(
        _ authenticator: A, credential: A.Credential? = nil, origins: [String]? = nil,
        refreshLimit: Int = 5, refreshWindow: Duration = .seconds(30),
        refreshTimeout: Duration? = .seconds(60), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        scope = CredentialScope(origins)
        keeper = CredentialKeeper(
            authenticator, credential: credential ?? (try? authenticator.fixedCredential()),
            limit: RefreshLimit(count: refreshLimit, window: refreshWindow), timeout: refreshTimeout, clock: clock)
    }

    /// The present credential. Set it to replace that of the same login, or to nil after a logout; between two users,
    /// call ``logIn(_:)`` and ``logOut()``, which also wait for the store.
    ///
    /// The authenticator saves it at once in the background. What a refresh brings that is under way is thrown away: calls that wait for it
    /// go on with the new credential, or fail with ``HTTPError/Code/authentication`` when there is none.
    public var credential: A.Credential? {
        get { keeper.credential }
        set { keeper.set(newValue, isLogin: newValue == nil) }
    }

    /// Takes a credential of the present login that came without being asked for, such as from another process.
    ///
    /// - Returns: Whether it was taken: not when it is the present one, nor after a logout.
    @discardableResult
    public func offer(_ credential: A.Credential) -> Bool where A.Credential: Equatable { keeper.offer(credential) }

    /// Begins a login: calls from now on are sent with its credential, which the authenticator saves.
    ///
    /// Calls that began before aren't sent with it, nor their retries: those that need another credential, or are to be sent again, fail with
    /// ``HTTPError/Code/authentication`` and ``RefreshRefusal/loginEnded`` behind it. Code that logs in for the call that it is part of
    /// sets ``credential`` instead. What a refresh of the former login brings is thrown away.
    ///
    /// - Throws: What ``Authenticator/save(_:)`` throws, and ``HTTPError/Code/timeout`` when that takes longer than 60 s. The login has begun all
    ///   the same, and saving is tried again with later requests. Saving that ignores its cancellation after that time is waited for all the
    ///   same. Cancelling the task changes nothing.
    public func logIn(_ credential: A.Credential) async throws { try await keeper.set(credential, isLogin: true).value }

    /// Ends the login: the credential is forgotten here and, by the authenticator's ``Authenticator/save(_:)``, where it was kept. Calls and
    /// refreshes that are under way fare as with ``logIn(_:)``.
    ///
    /// - Throws: What ``Authenticator/save(_:)`` throws, and ``HTTPError/Code/timeout`` when that takes longer than 60 s. The login has ended all
    ///   the same, and saving is tried again with later requests. Saving that ignores its cancellation after that time is waited for all the
    ///   same. Cancelling the task changes nothing.
    public func logOut() async throws { try await keeper.set(nil, isLogin: true).value }

    /// ``InterceptorTraits/givesUpAnswers``: a rejected answer is replaced by the answer to a second request.
    public var traits: InterceptorTraits { .givesUpAnswers }

    /// Sends the request with the present credential, and when that is rejected once more with a newer one.
    ///
    /// - Throws: ``HTTPError/Code/authentication`` when there is no credential to be had, with the refresh's error behind it and
    ///   the rejecting response if there was one; ``HTTPError/Code/timeout`` when the attempt's time is over; what `apply` and
    ///   `next` throw.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let call = next.call
        guard !keeper.isRefreshingHere, try scope.contains(request.urlText, in: call), !hasItsOwn(request) else {
            return try await next(request)
        }
        let present = keeper.present
        if !present.isSaved { keeper.saveAgain() }
        guard present.isMeant(for: call) else {
            throw HTTPError.withoutCredential(request, because: RefreshRefusal.loginEnded)
        }
        var visit = Visit(request: request, next: next, login: present.number, failures: present.failures)
        if let held = present.held, !present.isRefreshing, !authenticator.needsRefresh(held.credential) {
            return try await send(with: held, in: visit)
        }
        let held = try await successor(of: present.generation, in: visit)
        if held.generation > present.generation {
            visit.request.record(.credential(present.held == nil ? .obtained : .refreshed))
        }
        visit.request.renewCookies()
        return try await send(with: held, in: visit)
    }

    /// The request of a call and how it goes on.
    private struct Visit {
        var request: HTTPRequest
        let next: Next<HTTPRequest, HTTPResponse>
        let login: Int
        let failures: Int
    }

    /// Sends with a credential that may turn out to be outdated.
    private func send(with held: CredentialKeeper<A>.Held, in visit: Visit) async throws -> HTTPResponse {
        var (held, visit) = (held, visit)
        var (response, isRejected) = try await sent(with: held, in: visit)
        // Another call may have refreshed meanwhile. That helps once; a credential which is outdated as soon as it is there
        // isn't waited out.
        if isRejected, let newer = keeper.present.held, newer.generation > held.generation, newer.login == visit.login {
            guard visit.request.canBeSentAgain(after: response) else { return response }
            visit.request.giveUp(response)
            visit.request.record(.credential(.wasNewer, rejection: response.status))
            held = newer
            (response, isRejected) = try await sent(with: held, in: visit)
            keeper.note(isRejected ? .inVain : .helped, of: held)
        }
        guard isRejected else {
            // Those who needed it may have come to nothing for another reason.
            if !held.isTried { keeper.note(.accepted, of: held) }
            return response
        }
        let canSendAgain = visit.request.canBeSentAgain(after: response)
        // Closed before the wait, so that it holds no connection that the refresh may need.
        if canSendAgain { visit.request.giveUp(response) }
        let fresh = try await successor(of: held.generation, in: visit, rejecting: response)
        guard canSendAgain else {
            visit.request.record(.credential(.refreshedInVain, rejection: response.status))
            return response
        }
        visit.request.record(
            .credential(fresh.generation > held.generation ? .refreshed : .unchanged, rejection: response.status))
        visit.request.renewCookies()
        (response, isRejected) = try await sent(with: fresh, in: visit)
        keeper.note(isRejected ? .inVain : .helped, of: fresh)
        return response
    }

    /// Sends the request once, and returns whether it was refused because of its credential.
    private func sent(
        with held: CredentialKeeper<A>.Held, in visit: Visit
    ) async throws -> (response: HTTPResponse, isRejected: Bool) {
        var request = visit.request
        try await authenticator.apply(held.credential, to: &request)
        let response = try await visit.next(request)
        let url = response.request.urlText
        // By https, as a host of http may want, it has gone to its own origin, too.
        let isRejected =
            try authenticator.isRejected(response, using: held.credential)
            && (scope.contains(url, in: visit.next.call) || OriginMatch(visit.request.urlText)?.matchesOrSecures(url) == true)
            && response.request.keepsCredential(addedTo: visit.request, in: request)
        return (response, isRejected)
    }

    /// Whether a request has a credential that the authenticator leaves alone.
    private func hasItsOwn(_ request: HTTPRequest) -> Bool {
        authenticator.keepsOwnAuthorization && request.headers.contains(.authorization)
    }

    /// A newer credential, for which the call waits as long as its attempt may last.
    private func successor(
        of generation: Int, in visit: Visit, rejecting response: HTTPResponse? = nil
    ) async throws -> CredentialKeeper<A>.Held {
        let request = visit.request
        let need: CredentialKeeper<A>.Need = response == nil ? .due : .rejected
        let position = visit.next.position
        if position.isOver(position.due) { throw position.overdue(phase: .of(response)) }
        let outcome = try await position.withinTimeLeft(phase: .of(response)) { [keeper] _ in
            try await keeper.successor(of: generation, login: visit.login, failures: visit.failures, need: need)
        }
        switch outcome {
        case .success(let held):
            if let reason = (authenticator as? any Degradable)?.degradation {
                request.record(.degraded("the credential", because: reason))
            }
            return held
        case .failure(let error): throw HTTPError.withoutCredential(request, after: response, because: error)
        }
    }
}

extension AuthenticationInterceptor {
    /// Puts the present credential on the request; `.unknown` when one would be obtained or refreshed first, or the call's login has ended.
    ///
    /// - Throws: What ``Authenticator/apply(_:to:)`` throws.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard !keeper.isRefreshingHere else { return .known("no credential for a refresh") }
        guard try scope.contains(request.urlText) else { return .known("no credential for this origin") }
        guard !hasItsOwn(request) else { return .known("the request has credentials of its own") }
        let present = keeper.present
        guard present.isMeant(for: ChainPosition.current?.call) else { return .unknown("its login has ended") }
        guard let held = present.held else { return .unknown("would obtain a credential first") }
        guard !present.isRefreshing, !authenticator.needsRefresh(held.credential) else {
            return .unknown("would refresh its credential first")
        }
        try await authenticator.apply(held.credential, to: &request)
        return .known("refreshes its credential once if it is rejected")
    }

    /// The present credential's; `.unknown` when there is none that can be used as it is or the call's login has ended, `.nobody` for other
    /// origins, and for a request whose own `Authorization` is kept.
    public func identity(of request: HTTPRequest) -> RequestIdentity {
        guard !keeper.isRefreshingHere, (try? scope.contains(request.urlText)) != false, !hasItsOwn(request) else {
            return .nobody
        }
        let present = keeper.present
        guard let held = present.held, !authenticator.needsRefresh(held.credential),
            present.isMeant(for: ChainPosition.current?.call)
        else { return .unknown }
        return .user("\(mark) \(held.generation)")
    }
}

extension HTTPError {
    /// What a call ends with for which there is no credential.
    fileprivate static func withoutCredential(
        _ request: HTTPRequest, after response: HTTPResponse? = nil, because error: any Error
    ) -> HTTPError {
        let failure = HTTPError(
            .authentication, error.refusal, request: request, response: response, underlying: error, phase: .of(response))
        return error.isRefusalForNow ? failure.forNow : failure
    }
}

extension AuthenticationInterceptor: RankedByStage {
    /// At the exchange it stands outside breakers and limits, which the refresh that a call waits for may have to pass itself.
    package func rank(at stage: InterceptorStage) -> InterceptorRank { stage == .exchange ? .obtainedCredentials : .ordinary }
}

extension HTTPError.Phase {
    fileprivate static func of(_ response: HTTPResponse?) -> Self { response == nil ? .notSent : .answered }
}

extension Error {
    /// Why there is no credential, in a sentence that repeats nothing of a user's error, which may hold secrets.
    fileprivate var refusal: String {
        switch self {
        case let error as RefreshRefusal: error.description
        case let error as any PublicRefusal: "No credential could be obtained: \(error.publicReason)."
        default: "No credential could be obtained."
        }
    }
}

extension HTTPRequest {
    /// Whether the request, as it went on the wire in the end, still carries what was added to `original` to make
    /// `authenticated`. A redirect may have taken it away, and then a rejection isn't about it.
    fileprivate func keepsCredential(addedTo original: HTTPRequest, in authenticated: HTTPRequest) -> Bool {
        for (name, value) in authenticated.headers where !original.headers.values(name).contains(value) {
            // Other cookies may have been joined to those, and all go in one field (RFC 6265 §5.4).
            let isThere =
                name == .cookie
                ? Set(([.cookie: value] as HTTPHeaders).cookiePairs).isSubset(of: headers.cookiePairs)
                : headers.values(name).contains(value)
            guard isThere else { return false }
        }
        guard authenticated.urlText != original.urlText, authenticated.urlText != urlText else { return true }
        let before = URLText(original.urlText).items
        let after = URLText(urlText).items
        return URLText(authenticated.urlText).items.allSatisfy { before.contains($0) || after.contains($0) }
    }
}

extension AuthenticationInterceptor: CustomReflectable {
    /// Shows the kind of authenticator and no credential.
    public var customMirror: Mirror { Mirror(self, children: ["authenticator": "\(A.self)"]) }
}
