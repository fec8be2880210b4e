internal import MidstreamCore

/// Which fields of a response are kept.
enum StoredFields {
    /// Those that are about the connection, or for a proxy alone (RFC 9111 §3.1), and what is worked out anew for each answer.
    private static let dropped: Set<HTTPHeaders.Name> = [
        .age, .connection, "Keep-Alive", "Proxy-Connection", .te, .trailer, .transferEncoding, "Upgrade", .proxyAuthenticate,
        .proxyAuthorization, "Proxy-Authentication-Info", "Cache-Status",
    ]

    /// The fields of a response that are stored with it.
    static func kept(of response: HTTPResponse, rules: CacheRules) -> HTTPHeaders {
        var fields = response.headers
        let unwanted = unwanted(in: fields, rules: rules)
        let isPart = response.status == .partialContent
        fields.removeAll { name in
            unwanted.contains(name) || (isPart && (name == .contentLength || name == "Content-Range"))
        }
        return fields
    }

    /// Stored fields with those of a newer head in their places (RFC 9111 §3.2). What describes the bytes that are there stays as it is.
    static func updated(_ fields: HTTPHeaders, by response: HTTPResponse, rules: CacheRules) -> HTTPHeaders {
        var news = response.headers
        let unwanted = unwanted(in: news, rules: rules)
        news.removeAll { name in
            unwanted.contains(name) || name == .contentLength || name == .contentEncoding || name == "Content-Range"
        }
        let names = Set(news.map(\.name))
        var merged = fields
        merged.removeAll { names.contains($0) }
        for (name, value) in news { merged.add(name, value) }
        return merged
    }

    private static func unwanted(in fields: HTTPHeaders, rules: CacheRules) -> Set<HTTPHeaders.Name> {
        var names = dropped
        for value in fields.values(.connection) { names.formUnion(FieldNameList.names(in: value) ?? []) }
        let control = rules.control(fields, otherwise: CacheControl(fields.values(.cacheControl))).control
        names.formUnion(control.noCacheFields)
        if rules.isShared { names.formUnion(control.privateFields) }
        return names
    }
}

extension StoredHead {
    /// Whether the head of a response to `HEAD` is that of another representation (RFC 9111 §4.3.5).
    func differs(from response: HTTPResponse) -> Bool {
        for name in ["ETag", HTTPHeaders.Name.lastModified, .contentLength] {
            let values = response.headers.values(name)
            if !values.isEmpty, fields.contains(name), values != fields.values(name) { return true }
        }
        return false
    }
}
