internal import Foundation

extension String {
    /// The value of an `Authorization` header in the Basic scheme (RFC 7617).
    package static func basic(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// The value of an `Authorization` header for the user and password of a URL, which may be percent-encoded there.
    package static func basic(userInfo: String) -> String {
        let parts = userInfo.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false).map {
            String(Substring($0)).removingPercentEncoding ?? String(Substring($0))
        }
        return basic(user: parts[0], password: parts.count > 1 ? parts[1] : "")
    }
}

extension HTTPRequest {
    /// Moves user and password from the URL to an `Authorization` header, unless the request has one.
    package mutating func moveCredentialsToHeader() {
        guard urlText[...].withBytes({ $0.contains(UInt8(ascii: "@")) }) else { return }
        var parts = URLText(urlText)
        guard let userInfo = parts.userInfo else { return }
        parts.authority = parts.hostAndPort
        urlText = parts.text
        guard !userInfo.isEmpty, !headers.contains(.authorization) else { return }
        headers[.authorization] = .basic(userInfo: String(userInfo))
    }
}
