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
    public static let defaultBufferLimit = 512 << 10

    private let session: Session
    private let bufferLimit: Int

    public init(
        configuration: URLSessionConfiguration = .ephemeral, bufferLimit: Int = URLSessionTransport.defaultBufferLimit
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
        session = Session(own)
        self.bufferLimit = bufferLimit
    }

    deinit { session.retire() }

    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        var outgoing = try OutgoingRequest(request)
        #if canImport(FoundationNetworking)
            outgoing = try await outgoing.spooled()
        #endif
        let exchange = Exchange(request, outgoing, bufferLimit: bufferLimit)
        return try await exchange.response(startingWith: session.start)
    }

    public func close() { session.close() }
}
