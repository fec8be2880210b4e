internal import Interception

extension URLText {
    /// The URL as it may be shown: without user and password, and without the values of query items that are known to be secret.
    package static func redacted(_ text: String) -> String {
        var parts = URLText(text)
        guard parts.userInfo != nil || parts.query?.utf8.contains(UInt8(ascii: "=")) == true else { return text }
        if parts.userInfo != nil, let rest = parts.hostAndPort { parts.authority = "\(HTTPHeaders.withheld)@\(rest)" }
        if let query = parts.query {
            parts.query = Substring(
                query.split(separator: "&", omittingEmptySubsequences: false).map(redacted(item:)).joined(separator: "&"))
        }
        return parts.text
    }

    private static func redacted(item: Substring) -> Substring {
        guard let mark = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return item }
        let name = item[..<mark]
        let spelled = name.lowercased()
        let isSecret = secretItems.contains(spelled) || addedSecretItems.withLock { $0.contains(spelled) }
        return isSecret ? "\(name)=\(HTTPHeaders.withheld)" : item
    }

    /// Withholds the values of another query item from now on, in all URLs that are shown.
    ///
    /// For the process and for good, since a URL is shown in many places that know nothing of the client which it belongs to.
    package static func treatAsSecret(item name: String) {
        addedSecretItems.withLock { _ = $0.insert(name.percentEncoded.lowercased()) }
    }

    private static let addedSecretItems = Locked(Set<String>())

    /// Names of query items whose values give access to something, in small letters.
    private static let secretItems: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "auth_token", "api_key", "apikey", "api-key", "key", "secret",
        "client_secret", "password", "passwd", "pwd", "sig", "signature", "x-amz-signature", "x-amz-credential",
        "x-amz-security-token", "x-goog-signature", "x-goog-credential", "code",
    ]
}
