internal import Interception

/// The origins that a credential may be sent to.
///
/// Given by URLs, or else the origin of the base URL of the client that a request belongs to; for a client without one, the
/// origin of the first request that asks. To one of http that isn't given its host by https belongs, too, since a host may want that.
package struct CredentialScope: Sendable {
    private let given: Result<[OriginMatch], HTTPError>?
    private let first = Locked<OriginMatch?>(nil)

    /// Makes a scope.
    ///
    /// - Parameter urls: Any URLs of the origins, with `ws` or `wss` for `http` and `https` if you like; nil: the client's.
    package init(_ urls: [String]?) {
        given = urls.map { urls in
            Result { () throws(HTTPError) in
                try urls.map { url throws(HTTPError) in
                    guard let origin = OriginMatch(url.withWebScheme) else { throw Self.noOrigin(url) }
                    return origin
                }
            }
        }
    }

    /// Whether a URL, that of a request or of a hop of it, is of one of the origins.
    ///
    /// - Parameter call: The call that the request is part of; by default that of the present task.
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the scope was given a text that is none of these URLs.
    package func contains(_ url: String, in call: Call? = ChainPosition.current?.call) throws -> Bool {
        if let given { return try given.get().contains { $0.matches(url) } }
        if let base = call?.owner.baseOrigin { return base.matchesOrSecures(url) }
        let origin = first.withLock { first in
            let origin = first ?? OriginMatch(url)
            // What is only asked what it would do decides nothing.
            if call?.rehearsal == nil { first = origin }
            return origin
        }
        return origin?.matchesOrSecures(url) ?? false
    }

    private static func noOrigin(_ url: String) -> HTTPError {
        HTTPError(
            .invalidRequest, "“\(URLText.redacted(url))” is no http or https URL, so no credential can be given for it.",
            phase: .notSent)
    }
}
