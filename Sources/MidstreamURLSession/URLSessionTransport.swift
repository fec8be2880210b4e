public import MidstreamCore

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests with URLSession: the transport of Apple's platforms, which also runs on Linux.
public final class URLSessionTransport: HTTPTransport {
    /// How many bytes of a streamed response may wait for their reader before the transfer is held up: 512 KiB.
    public static let defaultResponseBuffer = 512 << 10

    private let sessions: Sessions
    private let responseBuffer: Int

    public init(
        configuration: URLSessionConfiguration = .ephemeral, responseBuffer: Int = URLSessionTransport.defaultResponseBuffer
    ) {
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        own.httpCookieStorage = nil
        own.urlCache = nil
        own.urlCredentialStorage = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.timeoutIntervalForRequest = OutgoingRequest.never
        own.timeoutIntervalForResource = OutgoingRequest.never
        sessions = Sessions(own)
        self.responseBuffer = responseBuffer
    }

    deinit { sessions.retire() }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let exchange = Exchange(request, try OutgoingRequest(request), responseBuffer: responseBuffer)
        return try await exchange.response(startingWith: sessions.start)
    }

    public func close() { sessions.close() }
}
