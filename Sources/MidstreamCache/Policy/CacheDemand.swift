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
        use = request.cache
        var obstacle: String?
        // Most requests say nothing.
        if Self.saysSomething(request.headers) {
            let headers = request.headers
            let fields = headers.values(.cacheControl)
            control = fields.isEmpty ? CacheControl() : CacheControl(fields)
            // Says something only where nothing newer does (RFC 9111 §5.4).
            isPragma = fields.isEmpty && headers.values("Pragma").contains { CacheControl([$0]).contains(.noCache) }
            range = request.method == .get ? RangeRequest(headers.values(.range)) : nil
            noneMatch = EntityTagCondition(headers.values(.ifNoneMatch))
            modifiedSince = noneMatch == nil ? headers[.ifModifiedSince] : nil
            ifRange = headers[.ifRange]
            if headers.contains("If-Match") || headers.contains(.ifUnmodifiedSince) {
                obstacle = "its condition is the server's to judge"
            }
        } else {
            (control, isPragma) = (CacheControl(), false)
            (range, noneMatch, modifiedSince, ifRange) = (nil, nil, nil, nil)
        }
        bypass =
            if use == .noStore || control.contains(.noStore) {
                "the request wants nothing stored"
            } else if let obstacle {
                obstacle
            } else if request.body.bytes?.isEmpty != true {
                "it has a body"
            } else {
                nil
            }
    }

    /// Whether there is a field whose name begins like one of those that are read here. One look through all costs less than one for each.
    private static func saysSomething(_ headers: HTTPHeaders) -> Bool {
        headers.bytes.withUnsafeBufferPointer { bytes in
            var isAtStart = true
            var place = 0
            while place + 1 < bytes.count {
                if isAtStart {
                    switch (bytes[place].asciiLowercased, bytes[place + 1].asciiLowercased) {
                    case (UInt8(ascii: "c"), UInt8(ascii: "a")), (UInt8(ascii: "p"), UInt8(ascii: "r")),
                        (UInt8(ascii: "r"), UInt8(ascii: "a")), (UInt8(ascii: "i"), UInt8(ascii: "f")):
                        return true
                    default: break
                    }
                }
                isAtStart = bytes[place] == UInt8(ascii: "\n")
                place += 1
            }
            return false
        }
    }

    /// Whether it asks the server whether its own copy is right.
    var isConditional: Bool { noneMatch != nil || modifiedSince != nil }

    /// Whether nothing stored may answer before the server was asked.
    var wantsValidation: Bool { use == .reload || control.contains(.noCache) || isPragma }

    /// Whether the server mayn't be asked.
    var isOnlyIfCached: Bool { use == .onlyIfCached || control.contains(.onlyIfCached) }
}
