public import MidstreamCore

/// Signs requests: proves to a server who sends them and that they weren't changed on the way.
public protocol RequestSigner: Sendable {
    /// Signs a request as it is about to go on the wire. Called for each exchange, so a repeated or redirected request is signed
    /// anew, as it was before any signature.
    ///
    /// What it adds must be known to be secret: a header that isn't one of the usual ones
    /// (``HTTPHeaders/Name/isSensitive``) has to be marked by ``HTTPHeaders/markSensitive(_:)``.
    ///
    /// - Throws: An error, which keeps the request from being sent and reaches the caller unchanged.
    func sign(_ request: inout HTTPRequest) async throws

    /// Whose requests are that it signs, so that caches, shared calls and quotas keep users apart; `.unknown` by default.
    var identity: RequestIdentity { get }
}

extension RequestSigner {
    /// `.unknown`.
    public var identity: RequestIdentity { .unknown }
}
