internal import Foundation

extension HTTPRequest {
    /// Whether it carries secrets that another request doesn't: values of fields that are secret, or items of the query, any of which may be.
    ///
    /// So it can be told of a request that was sent whether somebody has put a credential on it since it was seen.
    package func hasSecrets(beyond other: HTTPRequest) -> Bool {
        if headers.hasSensitive {
            for (name, value) in headers where headers.isSensitive(name) {
                guard other.headers.values(name).contains(value) else { return true }
            }
        }
        guard urlText != other.urlText, let query = URLText(urlText).query else { return false }
        let known = Set(URLText(other.urlText).query?.split(separator: "&") ?? [])
        return query.split(separator: "&").contains { !known.contains($0) }
    }

    /// The items of the query whose values are secret.
    package var secretItems: [Substring] {
        guard let query = URLText(urlText).query else { return [] }
        return query.split(separator: "&").filter { item in
            URLText.isSecret(item: String(item.prefix { $0 != "=" }).removingPercentEncoding ?? "")
        }
    }
}
