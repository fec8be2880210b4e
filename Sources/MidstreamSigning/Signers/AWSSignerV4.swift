public import Foundation
public import MidstreamCore

/// Signs requests by AWS Signature Version 4.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://dynamodb.eu-central-1.amazonaws.com") {
///     SigningInterceptor(AWSSignerV4(credentials, region: "eu-central-1", service: "dynamodb"))
/// }
/// ```
///
/// The host, the body's hash and all headers are signed that the request has by then, but those that proxies and transports
/// change (`User-Agent`, `Connection`, `Expect` …). The query is brought into the form that AWS reckons with: everything but
/// unreserved characters percent-encoded. The hash covers a body that can be read twice, in a single chunk; that of a stream that can be
/// read only once can't be known before it is sent, see ``Payload``.
public struct AWSSignerV4: RequestSigner {
    /// Where the signature goes.
    public enum Placement: Sendable, Hashable {
        /// The `Authorization` header and `X-Amz-…` headers.
        case headers
        /// The query: a presigned URL, which is good for so long. From 1 s to 7 days.
        case query(expires: Duration)
    }

    /// What is signed of the body.
    public enum Payload: Sendable, Hashable {
        /// Its hash. A stream that can be read only once can't be signed, and makes the call fail with ``HTTPError/Code/unsupported``.
        case signed
        /// Its hash; for a stream that can be read only once nothing over https, when the service allows it, as S3 does.
        case unsignedStreams
        /// Nothing over https, its hash over http.
        case unsigned
    }

    /// The region of the service, such as `eu-central-1`.
    public let region: String
    /// The service's name for signing, such as `s3` or `execute-api`.
    public let service: String
    /// Where the signature goes.
    public let placement: Placement
    /// What is signed of the body.
    public let payload: Payload
    /// Whose credentials they are; `.unknown` when they come from a closure.
    public private(set) var identity = RequestIdentity.unknown
    private let credentials: @Sendable () async throws -> AWSCredentials
    private let now: @Sendable () -> Date

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - service: The service's name for signing. `s3` and its kin (`s3express`, `s3-object-lambda`, `s3-outposts`) have rules of
    ///     their own for the path and the body, which are followed.
    ///   - placement: Where the signature goes; the headers by default.
    ///   - payload: What is signed of the body; its hash by default.
    ///   - now: The time of signing; a server refuses one that is more than some minutes wrong.
    ///   - credentials: Gives the credentials for each signature. What it throws reaches the caller unchanged.
    public init(
        region: String, service: String, placement: Placement = .headers, payload: Payload = .signed,
        now: @escaping @Sendable () -> Date = { Date() }, credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        self.region = region
        self.service = service
        self.placement = placement
        self.payload = payload
        self.now = now
        self.credentials = credentials
    }

    /// Makes a signer with credentials that stay the same; see ``init(region:service:placement:payload:now:credentials:)``.
    public init(
        _ credentials: AWSCredentials, region: String, service: String, placement: Placement = .headers,
        payload: Payload = .signed, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(region: region, service: service, placement: placement, payload: payload, now: now) { credentials }
        let parts = [credentials.accessKeyID, credentials.secretAccessKey, credentials.sessionToken ?? ""]
        identity = .user(parts.joined(separator: "\n"))
    }

    /// Signs the request, replacing a signature, a session token and an `Authorization` that it has.
    ///
    /// - Throws: ``HTTPError/Code/unsupported`` for a stream that can't be signed,
    ///   ``HTTPError/Code/invalidRequest`` for a relative URL or a validity that isn't from 1 s to 7 days,
    ///   ``HTTPError/Code/bodyUnreadable`` for a file that can't be read; what the credentials' source throws.
    public func sign(_ request: inout HTTPRequest) async throws {
        let credentials = try await credentials()
        let scope = SigningScope(date: now(), region: region, service: service)
        var message = try CanonicalRequest(request, isS3: isS3)
        switch placement {
        case .headers:
            try await addHeaders(to: &message, credentials, scope)
            let signature = try scope.signature(of: message, secret: credentials.secretAccessKey)
            message.headers[.authorization] =
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope.text), "
                + "SignedHeaders=\(message.signedHeaders), Signature=\(signature)"
        case .query(let expires):
            // Compared before it is taken apart: a duration may have more seconds than there is room for.
            guard .seconds(1)..<Duration.seconds(604_801) ~= expires else {
                throw HTTPError(
                    .invalidRequest, "A presigned URL is good for 1 s to 7 days, not for \(expires).", phase: .notSent)
            }
            // S3 promises not to look at the body behind a presigned URL; the other services do.
            message.payloadHash = isS3 ? CanonicalRequest.unsignedPayload : try await payloadHash(of: request)
            // The gateway of AWS IoT takes the session's token behind the signature, and refuses a signed one.
            let signsToken = service != "iotdevicegateway"
            message.addPresigning(
                credentials, signsToken ? credentials.sessionToken : nil, scope, seconds: expires.components.seconds)
            let signature = try scope.signature(of: message, secret: credentials.secretAccessKey)
            message.query.append(("X-Amz-Signature", signature))
            if !signsToken, let token = credentials.sessionToken {
                message.query.append(("X-Amz-Security-Token", token.percentEncoded))
            }
        }
        request.headers = message.headers
        request.urlText = message.url
    }

    /// The URL of a request with the signature in its query, for someone else to use.
    ///
    /// Whoever uses it has to send the same method, and the headers that the request has.
    ///
    /// - Parameter expires: How long it is good for, from 1 s to 7 days.
    /// - Throws: As ``sign(_:)`` does.
    public func presignedURL(for request: HTTPRequest, expires: Duration) async throws -> String {
        var request = request
        let signer = AWSSignerV4(
            region: region, service: service, placement: .query(expires: expires), payload: payload, now: now,
            credentials: credentials)
        try await signer.sign(&request)
        return request.urlText
    }

    private var isS3: Bool { ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(service) }

    private func addHeaders(
        to message: inout CanonicalRequest, _ credentials: AWSCredentials, _ scope: SigningScope
    ) async throws {
        message.headers["X-Amz-Date"] = scope.timestamp
        if let token = credentials.sessionToken { message.headers["X-Amz-Security-Token"] = token }
        message.payloadHash = try await payloadHash(of: message.request)
        if isS3 || ["aoss", "glacier"].contains(service) || message.payloadHash == CanonicalRequest.unsignedPayload {
            message.headers["X-Amz-Content-SHA256"] = message.payloadHash
        }
    }

    private func payloadHash(of request: HTTPRequest) async throws -> String {
        let body = request.body
        let isProtected = request.urlText.hasSecureScheme
        if payload == .unsigned, isProtected { return CanonicalRequest.unsignedPayload }
        if body.replayability == .replayable { return try await body.digest(.sha256).hexadecimal }
        guard payload == .unsignedStreams, isProtected else {
            throw HTTPError.unsupported(
                "The hash of a stream that can be read only once isn't known before it is sent: sign another body, or allow unsigned "
                    + "streams over https.",
                request: request)
        }
        return CanonicalRequest.unsignedPayload
    }
}

extension AWSSignerV4: CustomStringConvertible, CustomReflectable {
    /// The service and the region.
    public var description: String { "AWS Signature Version 4 for \(service) in \(region)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["signer": description]) }
}
