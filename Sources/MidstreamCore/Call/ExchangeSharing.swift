/// Lets exchanges of several calls be one.
package protocol ExchangeSharing: AnyObject, Sendable {
    /// The call that failed.
    var call: Call { get }

    /// The response to a request as it goes on the wire: that of another call to the same request, or what `deliver` brings.
    func response(
        to request: HTTPRequest, _ deliver: @escaping @Sendable () async throws -> HTTPResponse
    ) async throws -> HTTPResponse
}
