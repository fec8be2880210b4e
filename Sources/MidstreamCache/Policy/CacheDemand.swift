internal import MidstreamCore

/// What a request says to caches.
struct CacheDemand: Sendable {
    let use: CacheUse
    let control: CacheControl
    let range: RangeRequest?
    let noneMatch: EntityTagCondition?
    let modifiedSince: String?
    let ifRange: String?
    /// Why no cache has anything to do with it; nil: one has.
    let bypass: String?
    private let isPragma: Bool

    init(_ request: HTTPRequest) {
        let headers = request.headers
        use = request.cache
        let fields = headers.values(.cacheControl)
        control = fields.isEmpty ? CacheControl() : CacheControl(fields)
        // Says something only where nothing newer does (RFC 9111 §5.4).
        isPragma = fields.isEmpty && headers.values("Pragma").contains { CacheControl([$0]).contains(.noCache) }
        range = request.method == .get ? RangeRequest(headers.values(.range)) : nil
        noneMatch = EntityTagCondition(headers.values(.ifNoneMatch))
        modifiedSince = noneMatch == nil ? headers[.ifModifiedSince] : nil
        ifRange = headers[.ifRange]
        bypass =
            if use == .noStore || control.contains(.noStore) {
                "the request wants nothing stored"
            } else if headers.contains("If-Match") || headers.contains(.ifUnmodifiedSince) {
                "its condition is the server's to judge"
            } else if request.body.bytes?.isEmpty != true {
                "it has a body"
            } else {
                nil
            }
    }

    /// Whether it asks the server whether its own copy is right.
    var isConditional: Bool { noneMatch != nil || modifiedSince != nil }

    /// Whether nothing stored may answer before the server was asked.
    var wantsValidation: Bool { use == .reload || control.contains(.noCache) || isPragma }

    /// Whether the server mayn't be asked.
    var isOnlyIfCached: Bool { use == .onlyIfCached || control.contains(.onlyIfCached) }
}
