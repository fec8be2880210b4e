/// What would be sent in the place of a request, as far as that says whose it is.
package enum Foresight: Sendable {
    /// With these credentials, and whatever else may change the answer.
    case request(HTTPRequest)
    /// An interceptor of this name can't tell beforehand.
    case unknown(String)
}
