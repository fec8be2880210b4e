internal import Foundation

extension HTTPRequest {
    /// Whether it has secret field values, or query items, that another request doesn't have: a credential was added in between.
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
