internal import Foundation
internal import MidstreamCore

/// A request in the form over which AWS Signature Version 4 is reckoned.
struct CanonicalRequest {
    static let unsignedPayload = "UNSIGNED-PAYLOAD"

    let request: HTTPRequest
    /// The fields as they will be sent.
    var headers: HTTPHeaders
    /// Name and value of the items, strictly encoded; no value is not the same as an empty one, on the wire at least.
    var query: [(name: String, value: String?)]
    var payloadHash = ""
    private let isS3: Bool
    private var parts: URLText

    init(_ request: HTTPRequest, isS3: Bool) throws {
        self.request = request
        self.isS3 = isS3
        headers = request.headers.withoutSignature
        guard URLText(request.urlText).isAbsolute, let origin = HTTPOrigin(request.urlText) else {
            throw HTTPError(
                .invalidRequest, "Only a request with an absolute URL can be signed.", request: request, phase: .notSent)
        }
        // A URL that is presigned may not have been sent by a client before.
        parts = URLText(try URLText.resolve(request.urlText, base: nil, query: nil))
        // As it is signed: transports send the host as the URL has it, and some servers take that for what was signed.
        parts.authority = origin.description.dropFirst(origin.scheme.count + 3)
        if isS3 {
            let segments = parts.path.split(separator: "/", omittingEmptySubsequences: false)
            // Those that are encoded steps stay so: somebody on the way could take them.
            let sent = segments.map { [".", ".."].contains($0.strict) ? String($0) : $0.strict }
            parts.path = Substring(sent.joined(separator: "/"))
        }
        query = (parts.query ?? "").split(separator: "&").compactMap { item in
            let mark = item.utf8.firstIndex(of: UInt8(ascii: "="))
            let name = String(item[..<(mark ?? item.endIndex)]).strictlyEncoded
            // Of an earlier signature nothing is kept.
            guard !Self.presigningItems.contains(name.lowercased()) else { return nil }
            return (name, mark.map { String(item[item.utf8.index(after: $0)...]).strictlyEncoded })
        }
    }

    private static let presigningItems: Set<String> = [
        "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders", "x-amz-signature",
        "x-amz-security-token",
    ]

    /// The URL with the query in the form that is signed.
    var url: String {
        var parts = parts
        parts.query =
            query.isEmpty ? nil : Substring(query.map { $0.name + ($0.value.map { "=\($0)" } ?? "") }.joined(separator: "&"))
        return parts.text
    }

    /// - Parameter token: The session's, if it is signed.
    mutating func addPresigning(_ credentials: AWSCredentials, _ token: String?, _ scope: SigningScope, seconds: Int64) {
        query += [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope.text)".percentEncoded),
            ("X-Amz-Date", scope.timestamp),
            ("X-Amz-Expires", "\(seconds)"),
            ("X-Amz-SignedHeaders", signedHeaders.percentEncoded),
        ]
        if let token { query.append(("X-Amz-Security-Token", token.percentEncoded)) }
    }

    /// The names of the signed fields.
    var signedHeaders: String { signedFields.map(\.name).joined(separator: ";") }

    var text: String {
        [
            request.method.rawValue, canonicalPath, canonicalQuery,
            signedFields.map { "\($0.name):\($0.value)\n" }.joined(), signedHeaders, payloadHash,
        ].joined(separator: "\n")
    }

    private var canonicalQuery: String {
        query.map { ($0.name, $0.value ?? "") }.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    /// S3 takes the path once encoded and as it is; the others take it without dot segments and empty ones, and encoded again.
    private var canonicalPath: String {
        guard !parts.path.isEmpty else { return "/" }
        guard !isS3 else {
            return parts.path.split(separator: "/", omittingEmptySubsequences: false).map(\.strict).joined(separator: "/")
        }
        var kept: [Substring] = []
        for segment in parts.path.split(separator: "/") where segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        let end = parts.path.hasSuffix("/") && !kept.isEmpty ? "/" : ""
        return "/" + kept.map { String($0).percentEncoded }.joined(separator: "/") + end
    }

    /// Names in small letters and in order, values of the same name joined, white space inside a value reduced to one space.
    private var signedFields: [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for (name, value) in headers {
            let name = name.rawValue.lowercased()
            guard !Self.unsignedFields.contains(name) else { continue }
            values[name, default: []].append(value.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        if values["host"] == nil { values["host"] = [String(parts.authority ?? "")] }
        return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.joined(separator: ",")) }
    }

    /// What proxies and transports change or add.
    private static let unsignedFields: Set<String> = [
        "accept-encoding", "authorization", "baggage", "connection", "expect", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "sec-websocket-extensions", "sec-websocket-key", "sec-websocket-version", "te", "traceparent",
        "tracestate", "trailer", "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id",
    ]
}

extension HTTPHeaders {
    /// The fields without those of an earlier signature and of other credentials.
    fileprivate var withoutSignature: HTTPHeaders {
        var headers = self
        let wasSigned = self[.authorization]?.hasPrefix("AWS4-") == true
        for name in [.authorization, "X-Amz-Date", "X-Amz-Security-Token"] as [Name] { headers.remove(name) }
        if wasSigned { headers.remove("X-Amz-Content-SHA256") }
        return headers
    }
}

/// For what and when a signature is good.
struct SigningScope {
    let timestamp: String
    private let region: String
    private let service: String

    init(date: Date, region: String, service: String) {
        let time = CivilTime(date)
        let digits = { (number: Int, width: Int) in
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let day = digits(time.year, 4) + digits(time.month, 2) + digits(time.day, 2)
        timestamp = "\(day)T\(digits(time.hour, 2))\(digits(time.minute, 2))\(digits(time.second, 2))Z"
        self.region = region
        self.service = service
    }

    private var day: String { String(timestamp.prefix(8)) }

    var text: String { "\(day)/\(region)/\(service)/aws4_request" }

    func signature(of request: CanonicalRequest, secret: String) throws -> String {
        let hash = try HashFunction.sha256.hexadecimal(request.text)
        let steps = [day, region, service, "aws4_request", "AWS4-HMAC-SHA256\n\(timestamp)\n\(text)\n\(hash)"]
        return try steps.reduce(Array("AWS4\(secret)".utf8)) { key, step in
            try HashFunction.authenticationCode(Array(step.utf8), key: key)
        }.hexadecimal
    }
}

extension String {
    /// The text with every byte outside the unreserved characters percent-encoded, and what is encoded already in the one way
    /// that AWS reckons with: capital digits, unreserved characters plain.
    var strictlyEncoded: String {
        let plain = Array(utf8).percentDecoded()
        return plain.withUnsafeBufferPointer { $0.percentEncoded(exceptFor: .unreserved) }
            ?? String(decoding: plain, as: UTF8.self)
    }
}

extension Substring {
    fileprivate var strict: String { String(self).strictlyEncoded }
}
