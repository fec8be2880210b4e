/// A request's state, to be compared with later ones.
struct RequestSnapshot: Sendable {
    let method: HTTPMethod
    let urlText: String
    let headers: HTTPHeaders
    let attempt: Int
    private let body: BodyIdentity

    init(_ request: HTTPRequest) {
        method = request.method
        urlText = request.urlText
        headers = request.headers
        attempt = request.attempt
        body = BodyIdentity(request.body)
    }

    func isOf(_ request: HTTPRequest) -> Bool {
        headers.isIdentical(to: request.headers) && attempt == request.attempt && method == request.method
            && urlText == request.urlText && body == BodyIdentity(request.body)
    }

    /// The differences, without values of headers that are secret here or were marked so elsewhere in the call.
    func changes(since before: RequestSnapshot, secret: Set<HTTPHeaders.Name>, _ redaction: Redaction) -> [String] {
        var changes: [String] = []
        if before.method != method { changes.append("method: \(method)") }
        if before.urlText != urlText { changes.append("url: \(redaction.url(urlText))") }
        changes += headers.changes(since: before.headers, secret: secret, redaction)
        if before.body != body { changes.append("body replaced") }
        return changes.map(\.escapingControls)
    }
}

/// A response's state, to be compared with later ones.
struct ResponseSnapshot: Sendable, Equatable {
    let status: HTTPStatus
    let headers: HTTPHeaders
    private let body: BodyIdentity

    init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers
        body = BodyIdentity(response.body)
    }

    func isOf(_ response: HTTPResponse) -> Bool {
        response.isOf(status, headers, body)
    }

    /// The differences; see ``RequestSnapshot/changes(since:secret:_:)``.
    func changes(since before: ResponseSnapshot, secret: Set<HTTPHeaders.Name>, _ redaction: Redaction) -> [String] {
        var changes: [String] = []
        if before.status != status { changes.append("status: \(status)") }
        changes += headers.changes(since: before.headers, secret: secret, redaction)
        if before.body != body { changes.append("body replaced") }
        return changes
    }
}

extension HTTPHeaders {
    /// The fields that were added (`+`), changed (`~`) and removed (`-`), secret values withheld.
    func changes(since before: HTTPHeaders, secret: Set<Name>, _ redaction: Redaction) -> [String] {
        if isIdentical(to: before) { return [] }
        var changes: [String] = []
        var seen: Set<Name> = []
        for (name, _) in self where seen.insert(name).inserted {
            let values = values(name)
            guard values != before.values(name) else { continue }
            let isSecret = secret.contains(name) || isSensitive(name) || redaction.headers.contains(name)
            let shown = isSecret ? redaction.mark : values.map { redaction.value($0, of: name, in: self) }.joined(separator: ", ")
            changes.append("\(before.contains(name) ? "~" : "+") \(name): \(shown)")
        }
        for (name, _) in before where seen.insert(name).inserted { changes.append("- \(name)") }
        return changes
    }
}
