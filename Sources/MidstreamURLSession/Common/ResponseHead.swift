internal import Foundation
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// What a received head says, after what the system did to the body.
struct ResponseHead {
    /// The fields; without those about an encoding that the system has removed.
    let headers: HTTPHeaders
    /// The number of bytes of the body after decoding, when it is known.
    let bodyLength: Int64?

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
        if request.method == .head || response.statusCode == 204 || response.statusCode == 304 {
            headers = fields
            bodyLength = 0
            return
        }
        if let encoding = fields[.contentEncoding], Self.isDecoded(encoding) {
            fields.remove(.contentEncoding)
            fields.remove(.contentLength)
        }
        headers = fields
        bodyLength = fields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func texts(_ fields: [AnyHashable: Any]) -> [(name: String, value: String)] {
        fields.compactMap { name, value in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
    }

    private static func isDecoded(_ encoding: String) -> Bool {
        encoding.split(separator: ",").allSatisfy { coding in
            let coding = coding.trimmingCharacters(in: .whitespaces).lowercased()
            return decoded.contains(coding)
        }
    }

    #if canImport(FoundationNetworking)
        private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    #else
        private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br"]
    #endif
}

/// `Set-Cookie` values that were joined by commas, which no other field suffers from, because dates have a comma as well.
enum SetCookieList {
    /// Cuts before each comma that a cookie's name and `=` follow.
    static func split(_ joined: String) -> [String] {
        var cookies: [String] = []
        var start = joined.startIndex
        var position = start
        while let comma = joined[position...].firstIndex(of: ",") {
            position = joined.index(after: comma)
            let rest = joined[position...].drop { $0 == " " || $0 == "\t" }
            guard let mark = rest.firstIndex(of: "="), String(rest[..<mark]).isToken else { continue }
            cookies.append(String(joined[start..<comma]))
            start = rest.startIndex
        }
        cookies.append(String(joined[start...]))
        return cookies
    }
}
