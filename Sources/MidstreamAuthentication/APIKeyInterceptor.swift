public import Interception
public import MidstreamCore

/// Puts an API key on requests to its origins, in a header or in the query, and keeps it from all others.
///
/// It stands at ``InterceptorStage/exchange``, so it sees each hop of a redirect: one within the origins gets the key, and one to another
/// origin loses it even if the redirecting server has copied it into the new URL's query, be it inside another item, such as the URL that a
/// login should lead back to. That item goes with it.
///
/// The value is treated as a secret in descriptions, traces and errors, whatever the name. A header or an item of the same name
/// that the request has itself is kept.
public struct APIKeyInterceptor: HTTPInterceptor {
    private enum Placement {
        case header(HTTPHeaders.Name)
        case query(String)
    }

    private let placement: Placement
    private let key: String
    private let scope: CredentialScope

    /// Makes an interceptor that puts the key into a header.
    ///
    /// - Parameters:
    ///   - key: The key, as the service gave it.
    ///   - name: The header's name; `X-API-Key` by default.
    ///   - origins: URLs whose origins get the key. nil, the default: the origin of the client's base URL; for a client without
    ///     one, that of the first request.
    public init(_ key: String, header name: HTTPHeaders.Name = "X-API-Key", origins: [String]? = nil) {
        self.key = key
        placement = .header(name)
        scope = CredentialScope(origins)
    }

    /// Makes an interceptor that puts the key into the query.
    ///
    /// - Parameters:
    ///   - key: The key, as the service gave it; percent-encoded where it has to be.
    ///   - name: The name of the query's item.
    ///   - origins: See ``init(_:header:origins:)``.
    public init(_ key: String, query name: String, origins: [String]? = nil) {
        self.key = key
        placement = .query(name)
        scope = CredentialScope(origins)
        URLText.treatAsSecret(item: name)
    }

    /// `.exchange`.
    public var stage: InterceptorStage { .exchange }

    /// `.credentials`, so that a cache keeps the answers to different keys apart.
    public var rank: InterceptorRank { .credentials }

    /// It waits for nothing of its own.
    public var traits: InterceptorTraits { .endsInTime }

    /// Adds the key, or takes it away.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when an origin is no http or https URL; what `next` throws.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        try place(on: &request, in: next.call)
        return try await next(request)
    }

    /// Adds the key, or takes it away.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try place(on: &request, in: ChainPosition.current?.call)
        return .known()
    }

    /// `.nobody`: the plan shows the key.
    public func identity(of request: HTTPRequest) -> RequestIdentity { .nobody }

    private func place(on request: inout HTTPRequest, in call: Call?) throws {
        let isWithin = try scope.contains(request.urlText, in: call)
        switch placement {
        case .header(let name):
            request.headers.markSensitive(name)
            if isWithin {
                if !request.headers.contains(name) { request.headers[name] = key }
            } else if request.headers.values(name).contains(key) {
                request.headers.remove(name)
            }
        case .query(let name):
            // As they read: others may encode them otherwise than it is done here.
            if isWithin {
                let isThere = URLText(request.urlText).items.contains {
                    Array($0.utf8).percentDecoded(plusIsSpace: true).starts(with: "\(name)=".utf8)
                }
                if !isThere { request.addQuery(name, key) }
            } else {
                let own = Array("\(name)=\(key)".utf8)
                request.urlText = URLText.removing(from: request.urlText) { item in
                    [true, false].contains { Self.isThere(own, in: item, plusIsSpace: $0) }
                }
            }
        }
    }

    /// Whether an item is the key's, or has that somewhere in its value, however often it is encoded there.
    private static func isThere(_ own: [UInt8], in item: Substring, plusIsSpace: Bool) -> Bool {
        var text = Array(item.utf8)
        // Deeper than URLs are put into each other, and without an end that the redirecting server could put off.
        for _ in 0..<8 {
            let plain = text.percentDecoded(plusIsSpace: plusIsSpace)
            if plain.ranges(of: own).contains(where: { isWhole($0, in: plain) }) { return true }
            if plain == text { return false }
            text = plain
        }
        return false
    }

    /// Whether nothing but what stands between items is around a part of a text.
    private static func isWhole(_ part: Range<Int>, in text: [UInt8]) -> Bool {
        (part.lowerBound == 0 || Array("?&;#".utf8).contains(text[part.lowerBound - 1]))
            && (part.upperBound == text.count || Array("&;#".utf8).contains(text[part.upperBound]))
    }
}

extension APIKeyInterceptor: CustomStringConvertible, CustomReflectable {
    /// Where the key goes, not what it is.
    public var description: String { "API key in \(placement)" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["placement": placement]) }
}
