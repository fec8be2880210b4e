public import MidstreamCore

/// How a cache handled a request, in the words of RFC 9211.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// Why a request went further than the cache (RFC 9211 §2.2).
    public enum Forward: String, Sendable, Hashable, CaseIterable {
        /// The cache wasn't asked, or has nothing to do with such requests.
        case bypass
        /// The method isn't one that is answered from a cache.
        case method
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// What is stored for the URL was selected by other fields.
        case varyMiss = "vary-miss"
        /// The request wants the server asked.
        case request
        /// What is stored is stale.
        case stale
        /// A part of it is stored, and the rest isn't.
        case partial
    }

    /// Whether the stored response answered without the server being asked first.
    public var isHit = false
    /// Why the request went further; nil for a hit.
    public var forward: Forward?
    /// The status with which the server answered, when that isn't the response's.
    public var forwardStatus: HTTPStatus?
    /// For how many seconds more the response is fresh; negative: since how many it is stale.
    public var ttl: Int?
    /// Whether the response was stored.
    public var isStored = false
    /// Whether it came by another request for the same that was under way.
    public var isCollapsed = false
    /// More, such as why it wasn't stored.
    public var detail: String?

    /// As the member of a `Cache-Status` field; never with the key.
    public var description: String {
        var text = "Midstream"
        if isHit { text += "; hit" }
        if let forward { text += "; fwd=\(forward.rawValue)" }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus.code)" }
        if let ttl { text += "; ttl=\(ttl)" }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text += "; detail=\"\(detail.filter { $0 != "\"" && $0 != "\\" && $0.isASCII })\"" }
        return text
    }
}
