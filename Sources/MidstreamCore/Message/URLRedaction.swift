internal import Foundation
internal import Interception

extension URLText {
    /// The URL as it may be shown: without user and password, and without the values of items of query and fragment that are
    /// known to be secret.
    package static func redacted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }) else { return text }
        var parts = URLText(text)
        if let userInfo = parts.userInfo, !userInfo.isEmpty, let rest = parts.hostAndPort {
            parts.authority = "\(HTTPHeaders.withheld)@\(rest)"
        } else if parts.mayHaveMisplacedPassword, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let start = parts.authority == nil ? "" : "\(parts.scheme ?? "")://"
            return "\(start)\(HTTPHeaders.withheld)@\(redacted(String(text[text.utf8.index(after: at)...])))"
        }
        parts.query = parts.query.map(redacted(items:))
        parts.fragment = parts.fragment.map(redacted(items:))
        return parts.text
    }

    /// Whether a text with an `@` somewhere isn't the URL that was meant: `user:password@host` without a scheme, or a password
    /// with a `/`, `?` or `#`, which ends the authority, so that its beginning stands where the port should.
    private var mayHaveMisplacedPassword: Bool {
        if authority == nil { return scheme != nil }
        return portText?.utf8.contains { !(48...57 ~= $0) } == true
    }

    private static func redacted(items: Substring) -> Substring {
        guard items.utf8.contains(UInt8(ascii: "=")) else { return items }
        return Substring(
            items.split(separator: "&", omittingEmptySubsequences: false).map(redacted(item:)).joined(separator: "&"))
    }

    private static func redacted(item: Substring) -> Substring {
        guard let mark = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return item }
        let name = item[..<mark]
        let spelled = (name.removingPercentEncoding ?? String(name)).lowercased()
        let isSecret = secretItems.contains(spelled) || addedSecretItems.withLock { $0.contains(spelled) }
        return isSecret ? "\(name)=\(HTTPHeaders.withheld)" : item
    }

    /// Withholds the values of another query item from now on, in all URLs that are shown.
    ///
    /// For the process and for good, since a URL is shown in many places that know nothing of the client which it belongs to.
    package static func treatAsSecret(item name: String) {
        addedSecretItems.withLock { _ = $0.insert(name.lowercased()) }
    }

    private static let addedSecretItems = Locked(Set<String>())

    /// Names of items whose values give access to something, in small letters.
    private static let secretItems: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "auth_token", "api_key", "apikey", "api-key", "key", "secret",
        "client_secret", "password", "passwd", "pwd", "sig", "signature", "x-amz-signature", "x-amz-credential",
        "x-amz-security-token", "x-goog-signature", "x-goog-credential", "code",
    ]
}
