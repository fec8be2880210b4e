/// The fields and query items that a client adds to its requests.
struct ClientDefaults: Sendable {
    let headers: HTTPHeaders
    /// Items, encoded and joined; nil when there are none.
    let query: String?

    private init(headers: HTTPHeaders, items: [(String, String)]) {
        self.headers = headers
        let encoded = items.map { "\($0.percentEncoded)=\($1.percentEncoded)" }
        query = encoded.isEmpty ? nil : encoded.joined(separator: "&")
    }

    /// All of it, for the client's own origin.
    init(_ configuration: HTTPClient.Configuration) {
        self.init(headers: configuration.headers, items: configuration.query)
    }

    /// Those for any origin: without secret fields and items, which are the client's credentials.
    init(withoutCredentialsOf configuration: HTTPClient.Configuration) {
        var headers = configuration.headers
        headers.removeCredentials()
        self.init(headers: headers, items: configuration.query.filter { !URLText.isSecret(item: $0.0) })
    }
}
