internal import MidstreamCore

/// What requests have to have in common, so that one answer does for them.
struct CoalescingKey: Hashable, Sendable {
    /// Another client may send the same request elsewhere, and with other credentials.
    let client: ObjectIdentifier
    /// How many requests that may have changed something had ended before.
    let changes: UInt64
    let identity: String?
    let method: HTTPMethod
    let url: String
    /// With credentials, the client's defaults, and whatever else a server may go by.
    let headers: HTTPHeaders
    let body: [UInt8]
    /// Settings, and what interceptors left for others: any of it may change the answer.
    let context: RequestContext

    static func == (a: Self, b: Self) -> Bool {
        a.client == b.client && a.changes == b.changes && a.identity == b.identity && a.method == b.method && a.url == b.url
            && a.headers == b.headers && a.body == b.body && a.context.isEqual(to: b.context)
    }

    /// Those that differ in the context alone are told apart by `==`.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(headers)
        hasher.combine(identity)
    }
}
