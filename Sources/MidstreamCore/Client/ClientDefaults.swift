/// The fields, the query items and the user that a client adds to its requests.
final class ClientDefaults: Sendable {
    let headers: HTTPHeaders
    /// Items, encoded.
    private let items: [String]
    /// The same, joined; nil when there are none.
    private let query: String?
    /// What `Authorization` says of the base URL's user; nil when it names none.
    let user: String?

    private init(headers: HTTPHeaders, items: [(String, String)], userInfo: Substring? = nil) {
        self.headers = headers
        user = userInfo.flatMap { $0.isEmpty ? nil : String.basic(userInfo: String($0)) }
        self.items = items.map { "\($0.percentEncoded)=\($1.percentEncoded)" }
        query = items.isEmpty ? nil : self.items.joined(separator: "&")
    }

    /// The items that a URL doesn't have yet, joined; nil: none. It has them when its request was kept from an earlier call.
    func query(missingIn url: String) -> String? {
        guard query != nil, let own = URLText(url).query, items.contains(where: { own.hasItem($0) }) else { return query }
        let missing = items.filter { !own.hasItem($0) }
        return missing.isEmpty ? nil : missing.joined(separator: "&")
    }

    /// All of it, for the client's own origin.
    convenience init(_ configuration: HTTPClient.Configuration, baseURL: String?) {
        self.init(
            headers: configuration.headers, items: configuration.query, userInfo: baseURL.flatMap { URLText($0).userInfo })
    }

    /// Those for any origin: without secret fields and items, which are the client's credentials.
    convenience init(withoutCredentialsOf configuration: HTTPClient.Configuration) {
        var headers = configuration.headers
        headers.removeCredentials()
        self.init(headers: headers, items: configuration.query.filter { !URLText.isSecret(item: $0.0) })
    }
}

extension Substring {
    /// Whether this is an item of the query. It isn't as a rule, so nothing is cut out for it.
    fileprivate func hasItem(_ item: String) -> Bool {
        var start = utf8.startIndex
        while true {
            let end = utf8[start...].firstIndex(of: UInt8(ascii: "&")) ?? utf8.endIndex
            if utf8[start..<end].elementsEqual(item.utf8) { return true }
            guard end < utf8.endIndex else { return false }
            start = utf8.index(after: end)
        }
    }
}
