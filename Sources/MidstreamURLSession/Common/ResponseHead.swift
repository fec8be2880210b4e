internal import Foundation
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A received head, after what the system did to the body.
struct ResponseHead {
    /// The fields; without those about an encoding that the system has removed.
    let headers: HTTPHeaders
    /// The number of bytes of the body after decoding, when it is known.
    let bodyLength: Int64?
    /// Whether the system decodes the body, which it does whatever the request asks for.
    let isDecoded: Bool

    init(_ response: HTTPURLResponse, for request: HTTPRequest) {
        var fields = HTTPHeaders()
        // Sorted, since a dictionary would give them in another order each time.
        for (name, value) in Self.texts(response.allHeaderFields).sorted(by: { $0.name < $1.name }) {
            let name = HTTPHeaders.Name(name)
            if name == .setCookie {
                for cookie in SetCookieList.split(value) { fields.add(name, cookie) }
            } else {
                fields.add(name, value)
            }
        }
        let isBodiless = request.method == .head || response.statusCode == 204 || response.statusCode == 304
        isDecoded = !isBodiless && fields[.contentEncoding].map(Self.decodes) ?? false
        if isDecoded {
            fields.remove(.contentEncoding)
            fields.remove(.contentLength)
        }
        headers = fields
        bodyLength = isBodiless ? 0 : fields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func texts(_ fields: [AnyHashable: Any]) -> [(name: String, value: String)] {
        fields.compactMap { name, value in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
    }

    /// `identity` is no coding (RFC 9110 §12.5.3), and where there is none nothing is decoded.
    private static func decodes(_ encoding: String) -> Bool {
        let codings = encoding.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        return !codings.isEmpty && codings.allSatisfy { decoded.contains($0) }
    }

    private static let decoded: Set<String> = {
        var codings: Set<String> = ["gzip", "x-gzip", "deflate", "br"]
        // On Linux in any case.
        if #available(macOS 26.3, iOS 26.3, tvOS 26.3, watchOS 26.3, visionOS 26.3, *) { codings.insert("zstd") }
        return codings
    }()
}

/// `Set-Cookie` values that were joined by commas, which dates have as well.
enum SetCookieList {
    /// Cuts before each comma that a cookie's name and `=` follow.
    static func split(_ joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        let token = ASCIISet.token
        var cookies: [String] = []
        var start = 0
        var position = 0
        while let comma = bytes[position...].firstIndex(of: UInt8(ascii: ",")) {
            position = comma + 1
            let name = bytes[position...].firstIndex { $0 != 32 && $0 != 9 } ?? bytes.count
            // Only as far as the name goes: an `=` looked for to the end would be looked for again after each comma.
            let mark = bytes[name...].firstIndex { !token.contains($0) } ?? bytes.count
            guard mark > name, mark < bytes.count, bytes[mark] == UInt8(ascii: "=") else { continue }
            cookies.append(String(decoding: bytes[start..<comma], as: UTF8.self))
            start = name
        }
        cookies.append(String(decoding: bytes[start...], as: UTF8.self))
        return cookies
    }
}
