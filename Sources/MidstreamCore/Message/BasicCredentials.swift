internal import Foundation

extension String {
    /// The value of an `Authorization` header in the Basic scheme (RFC 7617).
    package static func basic(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// The value of an `Authorization` header for the user and password of a URL, which may be percent-encoded there.
    package static func basic(userInfo: String) -> String {
        let colon = UInt8(ascii: ":")
        let parts = userInfo.utf8.split(separator: colon, maxSplits: 1, omittingEmptySubsequences: false).map {
            Array($0).percentDecoded()
        }
        // By bytes, since what is encoded needn't be UTF-8.
        let credentials: [UInt8] = parts[0] + [colon] + (parts.count > 1 ? parts[1] : [])
        return "Basic " + Data(credentials).base64EncodedString()
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
