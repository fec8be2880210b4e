internal import MidstreamCore

/// What requests have to have in common, so that one answer does for them.
///
/// An object, since it is handed on and looked up several times for each call, and copying and hashing what it holds would cost more than the
/// rest of that.
final class CoalescingKey: Hashable, Sendable {
    /// Another client may send the same request elsewhere, and with other credentials.
    private let client: ObjectIdentifier
    /// How many requests that may have changed something had ended before.
    private let changes: UInt64
    private let identity: String?
    private let method: HTTPMethod
    private let url: String
    /// With credentials, the client's defaults, and whatever else a server may go by.
    private let headers: HTTPHeaders
    private let body: [UInt8]
    /// Settings, and what interceptors left for others: any of it may change the answer.
    private let context: RequestContext
    /// Those that differ in the context alone are told apart by `==`.
    private let hash: Int

    /// - Parameters:
    ///   - headers: Those that count of the request as it would be sent.
    ///   - body: That of the request.
    init(
        _ request: HTTPRequest, from client: ObjectIdentifier, after changes: UInt64, by identity: String?,
        headers: HTTPHeaders, body: [UInt8]
    ) {
        self.client = client
        self.changes = changes
        self.identity = identity
        method = request.method
        url = request.urlText
        self.headers = headers
        self.body = body
        context = request.context
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(headers)
        hasher.combine(identity)
        hash = hasher.finalize()
    }

    static func == (a: CoalescingKey, b: CoalescingKey) -> Bool {
        if a === b { return true }
        return a.hash == b.hash && a.client == b.client && a.changes == b.changes && a.identity == b.identity
            && a.method == b.method && a.url == b.url && a.headers == b.headers && a.body == b.body
            && a.context.isEqual(to: b.context)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
