public import Interception
public import MidstreamCore

/// Answers challenges of the Digest scheme (RFC 7616) with a user name and a password.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     DigestInterceptor(user: "Mufasa", password: password)
/// }
/// ```
///
/// The first request goes out without credentials and is sent again when it is challenged; later ones answer the known challenge
/// right away, with the nonce's count going up. A nonce that has become stale is replaced by the one that the server sends with
/// its refusal, or ahead of that with `nextnonce`. Credentials that are refused with a fresh nonce are wrong, and the 401 is
/// the answer.
///
/// An origin may have several realms: a request answers the challenge of the one whose paths are most like its own.
///
/// Known are MD5 and SHA-256, also in their session form, with `auth`, with `auth-int` for a body in memory where the
/// server offers nothing else, and without a quality as in RFC 2069; `userhash`, and names in UTF-8. Of several challenges the
/// one with SHA-256 is answered.
///
/// It stands at ``InterceptorStage/exchange``, since each answer is good for one method and target: a hop of a redirect is
/// answered anew, and one to another origin not at all. A request that has an `Authorization` of its own keeps it. A request
/// whose body can be read once, and was, can't be sent again, so its 401 is returned, and the next request answers the challenge
/// right away. At ``InterceptorStage/attempt`` the same goes for a `POST` that was answered by a redirect when the `GET` behind it
/// is challenged, unless it may be sent twice (``HTTPRequest/allowsUnsafeRetry``). A challenge of another origin, to which a
/// redirect has led, isn't answered there.
public final class DigestInterceptor: HTTPInterceptor {
    /// What is known of one realm.
    struct Session {
        var challenge: DigestChallenge
        /// That of all answers to it, for the session form of an algorithm, which binds the user's hash to that of the first one. Servers that
        /// take that of each request instead find it there. nil: each answer has its own.
        let clientNonce: String?
        var count: UInt32
        /// The path for which it was challenged last.
        let path: String

        /// How much a path has in common with that one.
        func nearness(to other: String) -> Int { zip(path.utf8, other.utf8).prefix { $0 == $1 }.count }
    }

    /// More origins than anyone gives one password to; past it the sessions are forgotten and begin again.
    private static let maximumOrigins = 100
    /// Past it the realm that wasn't used for longest is forgotten.
    private static let maximumRealms = 10

    private let user: String
    private let password: String
    private let clientNonce: @Sendable () -> String
    private let scope: CredentialScope
    /// The realms of each origin, the one that was used last first.
    let sessions = Locked([HTTPOrigin: [Session]]())

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - user: The user's name.
    ///   - password: The password. It is never sent.
    ///   - origins: URLs whose origins get answers. nil, the default: the origin of the client's base URL; for a client without
    ///     one, that of the first request. A text that is no http or https URL makes calls fail with
    ///     ``HTTPError/Code/invalidRequest``.
    ///   - clientNonce: Gives a new text for each answer (RFC 7616 §3.4), in the session form for each challenge; 128 random bits by default.
    public init(
        user: String, password: String, origins: [String]? = nil,
        clientNonce: @escaping @Sendable () -> String = { randomNonce() }
    ) {
        self.user = user
        self.password = password
        self.clientNonce = clientNonce
        scope = CredentialScope(origins)
    }

    /// 128 random bits as hexadecimal digits.
    public static func randomNonce() -> String { (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.signing`.
    public var rank: InterceptorRank { .signing }

    /// ``InterceptorTraits/givesUpAnswers``: a rejected answer is replaced by the answer to a second request.
    public var traits: InterceptorTraits { .givesUpAnswers }

    /// Sends the request, with an answer to the known challenge if there is one, and again when it is challenged.
    ///
    /// - Throws: What `next` throws; ``HTTPError/Code/unsupported`` for a challenge that asks for a digest of a
    ///   body that isn't in memory.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard !request.headers.contains(.authorization), try scope.contains(request.urlText, in: next.call),
            let origin = HTTPOrigin(request.urlText)
        else { return try await next(request) }
        let path = String(URLText(request.urlText).path)
        var request = request
        var use = use(of: nil, for: origin, path)
        // A known challenge that can't be answered for this body may be one of other paths.
        var field = use.flatMap { try? answer($0, to: request) }
        if field == nil { use = nil }
        var freshChallenges = 0
        while true {
            var answered = request
            if let field { answered.headers[.authorization] = field }
            let response = try await next(answered)
            guard Self.isAnswer(response, to: request) else { return response }
            takeNextNonce(from: response, for: origin, use?.challenge.realm)
            guard response.status == .unauthorized, let challenge = DigestChallenge.best(in: response.headers),
                challenge.nonce != use?.challenge.nonce || challenge.realm != use?.challenge.realm
                    // Some servers take the session's hash from the nonce of each request, and not from the first (RFC 7616 §3.4.2).
                    || (challenge.isSession && challenge.nonce != use?.challenge.firstNonce),
                // A fresh nonce that has become stale already is replaced once more, not for ever.
                freshChallenges == 0 || (freshChallenges == 1 && challenge.isStale)
            else { return response }
            guard request.canBeSentAgain(after: response) else {
                _ = self.use(of: challenge, for: origin, path, isAnswered: false)
                request.note("kept a challenge for the next request")
                return response
            }
            freshChallenges += 1
            request.giveUp(response)
            request.record(
                CallEvent(
                    "credential", use == nil ? "answered a challenge" : "answered a challenge with a new nonce",
                    ["action": "answered", "status": 401]))
            use = self.use(of: challenge, for: origin, path)
            field = try use.map { try answer($0, to: request) }
        }
    }

    /// Whether a response comes from the origin that the request is for, and not from one that a redirect has led to.
    private static func isAnswer(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        let url = response.request.urlText
        return url == request.urlText || OriginMatch(request.urlText)?.matchesOrSecures(url) == true
    }

    /// Says what would be done about a challenge; uses up no nonce.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard try scope.contains(request.urlText), let origin = HTTPOrigin(request.urlText) else {
            return .known("no credentials for this origin")
        }
        if request.headers.contains(.authorization) { return .known("the request has credentials of its own") }
        let isKnown = sessions.withLock { $0[origin] != nil }
        return .unknown(isKnown ? "would answer the known challenge" : "would answer a challenge")
    }

    /// That of who has this name and password; `.nobody` for other origins, and for a request that has credentials of its own.
    public func identity(of request: HTTPRequest) -> RequestIdentity {
        if request.headers.contains(.authorization) || (try? scope.contains(request.urlText)) == false { return .nobody }
        return .user("\(user)\n\(password)")
    }

    /// Counts a use of a new challenge's nonce, or of that of the realm whose path is nearest; nil when none is known.
    ///
    /// - Parameter isAnswered: False: the challenge is kept for later, and no use is counted.
    private func use(
        of challenge: DigestChallenge?, for origin: HTTPOrigin, _ path: String, isAnswered: Bool = true
    ) -> Session? {
        let begun = challenge.flatMap { $0.isSession ? clientNonce() : nil }
        return sessions.withLock { sessions in
            var known = sessions[origin] ?? []
            let nearest = known.max { $0.nearness(to: path) < $1.nearness(to: path) }
            guard let answered = challenge ?? nearest?.challenge else { return nil }
            let place = challenge == nil ? nearest?.path ?? path : path
            // Calls that are challenged at the same time, and realms, may be given the same nonce, and must not use it with the same count.
            var count = known.reduce(UInt32(0)) { $1.challenge.nonce == answered.nonce ? max($0, $1.count) : $0 }
            if count == .max {
                // A count has eight digits (RFC 7616 §3.4). Without an answer the request is challenged anew.
                (known, count, sessions[origin]) = ([], 0, nil)
                guard challenge != nil else { return nil }
            }
            if isAnswered { count += 1 }
            let present = known.first { $0.challenge.realm == answered.realm && $0.challenge.firstNonce == answered.firstNonce }
            known.removeAll { $0.challenge.realm == answered.realm }
            let used = Session(challenge: answered, clientNonce: present?.clientNonce ?? begun, count: count, path: place)
            known.insert(used, at: 0)
            if sessions.count >= Self.maximumOrigins, sessions[origin] == nil { sessions.removeAll() }
            sessions[origin] = Array(known.prefix(Self.maximumRealms))
            return used
        }
    }

    private func answer(_ use: Session, to request: HTTPRequest) throws -> String {
        let url = URLText(request.urlText)
        let path = url.path.isEmpty ? "/" : String(url.path)
        let answer = DigestAnswer(
            challenge: use.challenge, user: user, password: password, clientNonce: use.clientNonce ?? clientNonce(),
            count: use.count)
        return try answer.field(
            method: request.method.rawValue, uri: path + (url.query.map { "?\($0)" } ?? ""), body: request.body.bytes)
    }

    /// Takes over the nonce that the server wants to see next (RFC 7616 §3.5).
    private func takeNextNonce(from response: HTTPResponse, for origin: HTTPOrigin, _ realm: String?) {
        guard let field = response.headers["Authentication-Info"], let nonce = parameters(of: field)["nextnonce"], !nonce.isEmpty
        else { return }
        sessions.withLock { sessions in
            guard let place = sessions[origin]?.firstIndex(where: { $0.challenge.realm == realm }),
                sessions[origin]?[place].challenge.nonce != nonce
            else { return }
            sessions[origin]?[place].challenge.nonce = nonce
            sessions[origin]?[place].count = 0
        }
    }
}

extension DigestInterceptor: CustomReflectable {
    /// Shows no credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ChainedHTTPInterceptor {
    /// Answers challenges of the Digest scheme; see ``DigestInterceptor``.
    public static func digest(user: String, password: String) -> Self {
        .chain(inOrder: [DigestInterceptor(user: user, password: password)])
    }
}

extension HTTPInterceptor {
    /// The same for a line that follows another.
    public func digest(user: String, password: String) -> ChainedHTTPInterceptor {
        chain(before: DigestInterceptor(user: user, password: password))
    }
}
