internal import MidstreamCacheStore
internal import MidstreamCore

/// What a request asks of caches.
struct CacheDemand: Sendable {
    let use: CacheUse
    /// Why no cache has anything to do with it; nil: one has.
    let bypass: String?
    /// What its fields ask for; nil, as for most requests: nothing.
    private let fields: Fields?
    private let isAskedAgain: Bool

    private final class Fields: Sendable {
        let control: CacheControl
        let isPragma: Bool
        let range: RangeRequest?
        let noneMatch: EntityTagCondition?
        let modifiedSince: String?
        let ifRange: String?

        init(_ request: HTTPRequest) {
            let headers = request.headers
            let values = headers.values(.cacheControl)
            control = values.isEmpty ? CacheControl() : CacheControl(values)
            // Counts only without anything newer (RFC 9111 §5.4).
            isPragma = values.isEmpty && headers.values("Pragma").contains { CacheControl([$0]).contains(.noCache) }
            range = request.method == .get ? RangeRequest(headers.values(.range)) : nil
            noneMatch = EntityTagCondition(headers.values(.ifNoneMatch))
            modifiedSince = noneMatch == nil ? headers[.ifModifiedSince] : nil
            ifRange = headers[.ifRange]
        }
    }

    init(_ request: HTTPRequest) {
        use = request.carriesNothing ? .standard : request.cache
        isAskedAgain = request.isAskedAgain
        fields = request.headers.contains(oneOf: Self.fieldNames) ? Fields(request) : nil
        bypass =
            if request.method != .get, request.method != .head {
                "no cache answers its method"
            } else if use == .noStore || fields?.control.contains(.noStore) == true {
                "the request wants nothing stored"
            } else if fields != nil, request.headers.contains("If-Match") || request.headers.contains(.ifUnmodifiedSince) {
                "its condition is the server's to judge"
            } else if fields != nil, request.isUpgrade {
                "it asks for another protocol"
            } else if fields != nil, request.asksAnotherHost {
                "its Host is another than its URL's"
            } else if request.body.bytes?.isEmpty != true {
                "it has a body"
            } else {
                nil
            }
    }

    var control: CacheControl { fields?.control ?? CacheControl() }
    var range: RangeRequest? { fields?.range }
    var noneMatch: EntityTagCondition? { fields?.noneMatch }
    var modifiedSince: String? { fields?.modifiedSince }
    var ifRange: String? { fields?.ifRange }

    /// The fields that are read here. One look for all of them costs less than one for each.
    private static let fieldNames = FieldNameTable([
        .cacheControl, "Pragma", .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, "Upgrade", .host,
    ])

    /// Whether it asks the server whether its own copy is right.
    var isConditional: Bool { noneMatch != nil || modifiedSince != nil }

    /// Whether a stored response has to be validated before it answers.
    var wantsValidation: Bool {
        use == .reload || isAskedAgain && !isOnlyIfCached || fields.map { $0.isPragma || $0.control.contains(.noCache) } ?? false
    }

    /// Whether the server mayn't be asked.
    var isOnlyIfCached: Bool { use == .onlyIfCached || control.contains(.onlyIfCached) }
}

extension HTTPRequest {
    /// Whether its `Host` names another server than its URL, so that what it asks for isn't what the URL stands for (RFC 9110 §7.1).
    var asksAnotherHost: Bool {
        let hosts = headers.values(.host)
        guard !hosts.isEmpty, let origin = HTTPOrigin(urlText) else { return false }
        return hosts.contains { HTTPOrigin("\(origin.scheme)://\($0)") != origin }
    }
}
