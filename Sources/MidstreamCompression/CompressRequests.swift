public import Interception
public import MidstreamCore

/// Compresses the bodies of requests, and sends them as they are to servers that don't understand that.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://logs.example.com") { CompressRequests(.gzip) }
/// ```
///
/// Only servers that are known to take it should get it, so it is for one client or one request. A 415 may be a refusal of the coding
/// (RFC 9110 §15.5.16): the body is sent again as it is, if it can be. Unless that is a 415, too, requests of the same ``HTTPRequest/route``,
/// without one of the same path, are sent as they are for the next hour. A request with a `Content-Encoding` of its own isn't touched, nor is
/// a body that is known to be short, nor a part (`Content-Range`) or one of a resumable upload (`Upload-Offset`, `Upload-Length`,
/// `Upload-Complete`), whose offsets count the bytes as they are.
///
/// It stands at `.attempt`, so that what signs sees what is sent.
public final class CompressRequests: HTTPInterceptor {
    /// Past it the endpoints are forgotten and asked again.
    private static let maximumEndpoints = 1_000
    /// How long a refusal is remembered.
    private static let memory = Duration.seconds(3_600)

    /// Those by which bodies are parts of something that the server puts together by its length.
    private static let offsets: [HTTPHeaders.Name] = [.contentRange, "Upload-Offset", "Upload-Length", "Upload-Complete"]

    /// Fields that describe the uncompressed bytes.
    private static let describingBytes: [HTTPHeaders.Name] = [
        "Content-Length", "Content-Digest", "Repr-Digest", "Content-MD5", "Digest",
    ]

    private let compression: Compression
    private let least: Int64
    /// Since when endpoints have got what isn't compressed.
    private let refusals = Locked<[String: Stopwatch]>([:])

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - compression: How to compress. Where its library isn't there nothing is compressed.
    ///   - least: The length below which it isn't worth it; 1 KiB by default. A body of unknown length is always compressed.
    public init(_ compression: Compression = .gzip, least: Int64 = 1 << 10) {
        self.compression = compression
        self.least = least
    }
    /// It waits for nothing of its own, serves all alike, and replaces a 415 by the answer to a second request.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal, .givesUpAnswers] }

    /// Sends the request with its body compressed, and as it is after a 415.
    ///
    /// - Throws: What `next` throws.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard let compressed = compressed(request) else { return try await next(request) }
        let response = try await next(compressed)
        guard response.status == .unsupportedMediaType else { return response }
        let now = next.call?.stopwatch.restarted() ?? Stopwatch(on: ContinuousClock())
        guard request.canBeSentAgain(after: response) else {
            remember(request, now)
            return response
        }
        next.position.note({ "sent again as it is, after a 415" }, about: request)
        var again = request
        again.giveUp(response)
        let second = try await next(again)
        // Where it is refused as it is, too, the coding isn't the reason.
        if second.status != .unsupportedMediaType { remember(request, now) }
        return second
    }

    private func remember(_ request: HTTPRequest, _ now: Stopwatch) {
        guard let endpoint = Self.endpoint(of: request) else { return }
        refusals.withLock { refusals in
            if refusals.count >= Self.maximumEndpoints { refusals = [:] }
            refusals[endpoint] = now
        }
    }

    private static func endpoint(of request: HTTPRequest) -> String? {
        HTTPOrigin(request.urlText).map { "\($0) \(request.route ?? String(URLText(request.urlText).path))" }
    }

    /// Compresses as a request would be.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard let compressed = compressed(request) else { return .known() }
        request = compressed
        return .known("compresses by \(compression)")
    }

    private func compressed(_ request: HTTPRequest) -> HTTPRequest? {
        guard compression.isAvailable, !request.headers.contains(.contentEncoding), request.body.length ?? .max >= max(1, least),
            !Self.offsets.contains(where: { request.headers.contains($0) }), let endpoint = Self.endpoint(of: request),
            refusals.withLock({ $0[endpoint] }).map({ $0.elapsed >= Self.memory }) ?? true
        else { return nil }
        var compressed = request
        compressed.body = request.body.compressed(compression)
        compressed.headers[.contentEncoding] = compression.description
        for name in Self.describingBytes { compressed.headers.remove(name) }
        return compressed
    }
}
