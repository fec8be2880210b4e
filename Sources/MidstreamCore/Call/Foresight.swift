/// What would be sent in the place of a request, as far as that says whose it is.
package enum Foresight: Sendable {
    /// With these credentials, whatever else may change the answer, and what it doesn't carry yet.
    case request(HTTPRequest, WireIdentity)
    /// An interceptor of this name can't tell beforehand.
    case unknown(String)
}
