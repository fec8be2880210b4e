extension HTTPHeaders {
    /// The name of a field. Two names are equal when they differ only in the case of ASCII letters.
    public struct Name: ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
        /// The name as it was given.
        public let rawValue: String

        /// Takes any text; one that isn't a token (RFC 9110 §5.6.2) is refused when a field is made of it.
        public init(_ name: String) { rawValue = name }
        /// Takes any text, as ``init(_:)`` does.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name as it was given.
        public var description: String { rawValue }

        /// Compares without regard to ASCII case.
        public static func == (a: Name, b: Name) -> Bool { a.rawValue.equalsIgnoringASCIICase(b.rawValue) }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// Whether values of this name are secret by default: those that carry credentials, sessions or keys.
        public var isSensitive: Bool { Self.sensitive.contains(self) }

        static let sensitive = FieldNameTable([
            .authorization, .proxyAuthorization, .cookie, .setCookie, "Authentication-Info", "Proxy-Authentication-Info",
            "X-API-Key", "API-Key", "apikey", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-Auth-Token", "X-Access-Token",
            "X-Refresh-Token", "X-CSRF-Token", "X-XSRF-Token", "X-Amz-Security-Token", "X-Amz-S3session-Token", "X-Token",
            "X-Session-Token",
            "X-Vault-Token", "Private-Token", "X-Amz-Server-Side-Encryption-Customer-Key",
            "X-Amz-Copy-Source-Server-Side-Encryption-Customer-Key", "X-Goog-Encryption-Key", "X-Goog-Copy-Source-Encryption-Key",
            "X-MS-Encryption-Key", "X-Shopify-Access-Token", "X-Auth-Key", "X-AWS-EC2-Metadata-Token", "Job-Token",
            "Deploy-Token",
            "DD-API-Key", "DD-Application-Key", "X-Figma-Token", "Circle-Token", "X-JFrog-Art-Api", "Fastly-Key",
            "X-MS-Copy-Source-Authorization", "X-MS-Source-Encryption-Key", "Token", "X-Subject-Token", "X-Algolia-API-Key",
            "X-RapidAPI-Key", "CF-Access-Client-Secret",
            "X-Registry-Auth", "X-Registry-Config", "X-Consul-Token", "X-Nomad-Token", "X-Session-API-Key",
            "xi-api-key", "x-portkey-api-key", "Helicone-Auth", "cf-aig-authorization",
        ])
    }

    /// Fields that say where in a distributed trace a request belongs (W3C Trace Context), and nothing of what it asks for.
    package static let tracing: Set<Name> = ["traceparent", "tracestate"]
}

extension HTTPHeaders.Name {
    /// `Accept`.
    public static let accept: Self = "Accept"
    /// `Accept-Encoding`.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// `Accept-Language`.
    public static let acceptLanguage: Self = "Accept-Language"
    /// `Accept-Ranges`.
    public static let acceptRanges: Self = "Accept-Ranges"
    /// `Age`.
    public static let age: Self = "Age"
    /// `Allow`.
    public static let allow: Self = "Allow"
    /// `Authorization`.
    public static let authorization: Self = "Authorization"
    /// `Cache-Control`.
    public static let cacheControl: Self = "Cache-Control"
    /// `Connection`.
    public static let connection: Self = "Connection"
    /// `Content-Disposition`.
    public static let contentDisposition: Self = "Content-Disposition"
    /// `Content-Encoding`.
    public static let contentEncoding: Self = "Content-Encoding"
    /// `Content-Length`.
    public static let contentLength: Self = "Content-Length"
    /// `Content-Location`.
    public static let contentLocation: Self = "Content-Location"
    /// `Content-Range`.
    public static let contentRange: Self = "Content-Range"
    /// `Content-Type`.
    public static let contentType: Self = "Content-Type"
    /// `Cookie`.
    public static let cookie: Self = "Cookie"
    /// `Date`.
    public static let date: Self = "Date"
    /// `ETag`.
    public static let etag: Self = "ETag"
    /// `Expect`.
    public static let expect: Self = "Expect"
    /// `Expires`.
    public static let expires: Self = "Expires"
    /// `Host`.
    public static let host: Self = "Host"
    /// `Idempotency-Key`.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// `If-Match`.
    public static let ifMatch: Self = "If-Match"
    /// `If-Modified-Since`.
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// `If-None-Match`.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// `If-Range`.
    public static let ifRange: Self = "If-Range"
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince: Self = "If-Unmodified-Since"
    /// `Last-Modified`.
    public static let lastModified: Self = "Last-Modified"
    /// `Link`.
    public static let link: Self = "Link"
    /// `Location`.
    public static let location: Self = "Location"
    /// `Origin`.
    public static let origin: Self = "Origin"
    /// `Proxy-Authenticate`.
    public static let proxyAuthenticate: Self = "Proxy-Authenticate"
    /// `Proxy-Authorization`.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// `Range`.
    public static let range: Self = "Range"
    /// `Referer`.
    public static let referer: Self = "Referer"
    /// `Retry-After`.
    public static let retryAfter: Self = "Retry-After"
    /// `Server`.
    public static let server: Self = "Server"
    /// `Set-Cookie`.
    public static let setCookie: Self = "Set-Cookie"
    /// `TE`.
    public static let te: Self = "TE"
    /// `Trailer`.
    public static let trailer: Self = "Trailer"
    /// `Transfer-Encoding`.
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// `User-Agent`.
    public static let userAgent: Self = "User-Agent"
    /// `Vary`.
    public static let vary: Self = "Vary"
    /// `Via`.
    public static let via: Self = "Via"
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}
