package import MidstreamCore

/// Which fields of a response are kept.
package enum StoredFields {
    /// Those that are about the connection, or for a proxy alone (RFC 9111 §3.1), and what is worked out anew for each answer.
    package static let droppedNames: [HTTPHeaders.Name] = [
        .age, .connection, "Keep-Alive", "Proxy-Connection", .te, .trailer, .transferEncoding, "Upgrade", .proxyAuthenticate,
        .proxyAuthorization, "Proxy-Authentication-Info", "Cache-Status",
    ]
    /// Those that describe the bytes (RFC 9110 §8, RFC 9530). Servers give a 304 the type of their error pages.
    private static let ofBytes: Set<HTTPHeaders.Name> = [
        .contentLength, .contentEncoding, .contentType, "Content-Range", "Content-Digest", "Repr-Digest",
    ]
    private static let dropped = FieldNameTable(droppedNames)

    /// The fields of a response that are stored with it: without those that it names itself, too.
    package static func kept(
        of response: HTTPResponse, _ said: ResponseFields, without unwanted: Set<HTTPHeaders.Name>
    ) -> HTTPHeaders {
        var fields = response.headers
        if said.hasDropped { fields.removeAll(in: dropped) }
        for name in unwanted { fields.remove(name) }
        if response.status == .partialContent {
            for name in [HTTPHeaders.Name.contentLength, "Content-Range", "Content-Digest"] { fields.remove(name) }
        }
        return fields
    }

    /// Stored fields with those of a newer head in their places (RFC 9111 §3.2). What describes the bytes that are there stays as it is. A
    /// `Date` doesn't stay: without one the newer head is of the time when it came (RFC 9110 §6.6.1).
    package static func updated(
        _ fields: HTTPHeaders, by response: HTTPResponse, _ said: ResponseFields, rules: CacheRules
    ) -> HTTPHeaders {
        var news = response.headers
        let unwanted = unwanted(in: news, said, rules: rules)
        news.removeAll { name in
            dropped.contains(name) || unwanted.contains(name) || ofBytes.contains(name)
                || (name == .setCookie && rules.isShared && !rules.sharesPersonalResponses)
        }
        let names = Set(news.map(\.name)).union([.date])
        var merged = fields
        merged.removeAll { names.contains($0) }
        for (name, value) in news { merged.add(name, value) }
        return merged
    }

    /// What the response itself names, beyond those that are dropped in any case.
    package static func unwanted(in fields: HTTPHeaders, _ said: ResponseFields, rules: CacheRules) -> Set<HTTPHeaders.Name> {
        // Most name none.
        if rules.targetedFields.isEmpty, said.connection.isEmpty, said.control.namesNoFields { return [] }
        var names: Set<HTTPHeaders.Name> = []
        for value in said.connection { names.formUnion(FieldNameList.names(in: value) ?? []) }
        let control = rules.control(fields, otherwise: said.control).control
        names.formUnion(control.noCacheFields)
        if rules.isShared { names.formUnion(control.privateFields) }
        return names
    }
}

extension StoredHead {
    /// Whether the head of a response to `HEAD` is that of another representation (RFC 9111 §4.3.5).
    package func differs(from response: HTTPResponse) -> Bool {
        // A filter that encodes makes the tag of a GET weak, and leaves a HEAD alone.
        if let tag, let other = response.headers.values("ETag").first.flatMap({ EntityTag($0) }), !tag.isWeaklyEqual(to: other) {
            return true
        }
        for name in [HTTPHeaders.Name.lastModified, .contentLength] {
            let values = response.headers.values(name)
            if !values.isEmpty, fields.contains(name), values != fields.values(name) { return true }
        }
        return false
    }
}
