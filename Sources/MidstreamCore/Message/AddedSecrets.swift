internal import Foundation

extension HTTPRequest {
    /// Whether it has secret field values, or query items, that another request doesn't have: a credential was added in between.
    ///
    /// For an interceptor that keeps responses: it compares what was sent (``HTTPResponse/request``) with what it has passed on. Fields are
    /// secret by their names or since they were marked (``HTTPHeaders/isSensitive(_:)``); of the query any item counts. It doesn't see a
    /// credential in another field, in the path or the body, nor what a transport tells beside the request, such as a client certificate.
    public func hasSecrets(beyond other: HTTPRequest) -> Bool {
        if headers.hasSensitive {
            for (name, value) in headers where headers.isSensitive(name) {
                guard other.headers.values(name).contains(value) else { return true }
            }
        }
        guard urlText != other.urlText else { return false }
        let known = Set(URLText(other.urlText).items)
        return URLText(urlText).items.contains { !known.contains($0) }
    }

    /// The items of the query whose values are secret.
    package var secretItems: [Substring] {
        URLText(urlText).items.filter { item in
            let name = Substring(item.utf8.prefix { $0 != UInt8(ascii: "=") })
            return URLText.isSecret(item: name.removingPercentEncoding ?? "")
        }
    }
}
