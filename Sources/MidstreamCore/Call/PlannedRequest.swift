/// The request that interceptors would make of another one, so that equal requests of one user can share an answer.
package enum PlannedRequest: Sendable {
    /// The request, and the users of credentials that it doesn't carry yet.
    case known(HTTPRequest, WireIdentity)
    /// The interceptor of this name can't plan it.
    case unknown(String)
}
