/// The fields, the query items and the user that a client adds to its requests.
final class ClientDefaults: Sendable {
    let headers: HTTPHeaders
    /// Items, encoded.
    private let items: [String]
    /// What `Authorization` says of the base URL's user; nil when it names none.
    let user: String?

    private init(headers: HTTPHeaders, items: [(String, String)], userInfo: Substring? = nil) {
        self.headers = headers
        user = userInfo.flatMap { $0.isEmpty ? nil : String.basic(userInfo: String($0)) }
        self.items = items.map { "\($0.percentEncoded)=\($1.percentEncoded)" }
    }

    /// The items that a URL doesn't have yet, joined; nil: none. It has them when its request was kept from an earlier call.
    func query(missingIn url: String) -> String? {
        if items.isEmpty { return nil }
        let own = URLText(url).query?.utf8.split(separator: UInt8(ascii: "&")) ?? []
        let missing = items.filter { item in !own.contains { $0.elementsEqual(item.utf8) } }
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
