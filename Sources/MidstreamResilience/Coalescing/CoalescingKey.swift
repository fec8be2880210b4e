internal import MidstreamCore

/// The properties in which requests must be equal to share a response.
///
/// An object with a stored hash, since copying and hashing its parts at each lookup would cost more than the rest.
final class CoalescingKey: Hashable, Sendable {
    /// Another client may send the same request to another place, and with other credentials.
    private let client: ObjectIdentifier
    /// The number of unsafe requests that had ended before.
    private let changes: UInt64
    private let users: [String]
    private let method: HTTPMethod
    private let url: String
    /// Including credentials and the client's defaults.
    private let headers: HTTPHeaders
    private let body: [UInt8]
    /// Settings, and values that interceptors pass on: any of them may change the response.
    private let context: RequestContext
    /// Without the context, which only `==` compares.
    private let hash: Int

    /// Nil when the body isn't in memory.
    ///
    /// - Parameters:
    ///   - request: As it would be sent, with the fields that count.
    ///   - users: Its identities beyond its credentials.
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
        return a.hash == b.hash && a.client == b.client && a.changes == b.changes
            && a.users.elementsEqual(b.users) { $0.hasSameBytes(as: $1) } && a.method == b.method && a.url == b.url
            && a.headers == b.headers && a.body == b.body && a.context.isEqual(to: b.context)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
