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
    private let users: [String]
    private let method: HTTPMethod
    private let url: String
    /// With credentials, the client's defaults, and whatever else a server may go by.
    private let headers: HTTPHeaders
    private let body: [UInt8]
    /// Settings, and what interceptors left for others: any of it may change the answer.
    private let context: RequestContext
    /// Those that differ in the context alone are told apart by `==`.
    private let hash: Int

    /// Nil when the body isn't in memory.
    ///
    /// - Parameters:
    ///   - request: As it would be sent, with the fields that count.
    ///   - users: Whose it is beyond what it carries.
    init?(_ request: HTTPRequest, from client: ObjectIdentifier, after changes: UInt64, by users: [String]) {
        guard let body = request.body.bytes else { return nil }
        self.client = client
        self.changes = changes
        self.users = users
        method = request.method
        url = request.urlText
        headers = request.headers
        self.body = body
        var context = request.context
        // Each caller keeps its own.
        context.limits.deadline = nil
        self.context = context
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(headers)
        hasher.combine(users)
        hash = hasher.finalize()
    }

    static func == (a: CoalescingKey, b: CoalescingKey) -> Bool {
        if a === b { return true }
        return a.hash == b.hash && a.client == b.client && a.changes == b.changes && a.users == b.users
            && a.method == b.method && a.url == b.url && a.headers == b.headers && a.body == b.body
            && a.context.isEqual(to: b.context)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
