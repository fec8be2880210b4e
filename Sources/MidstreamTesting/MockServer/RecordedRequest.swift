public import Foundation
public import MidstreamCore

/// A request as a ``MockServer`` received it.
public struct RecordedRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target as it was sent (RFC 9112 §3.2): path and query, or an absolute URL when a proxy is addressed.
    public let target: String
    /// The version in the request line.
    public let version: HTTPVersion
    /// The header fields in the order in which they came, duplicates kept.
    public let headers: HTTPHeaders
    /// The body, decoded from chunks; as much of it as the server keeps (see ``MockServer/init(port:family:clock:limits:)``).
    /// Empty for a request that was answered early.
    public internal(set) var body: [UInt8]
    /// How many bytes the body has, kept or not.
    public internal(set) var bodyLength: Int
    /// The fields after a chunked body (RFC 9112 §7.1.2); nil when it wasn't chunked.
    public internal(set) var trailers: HTTPHeaders?
    /// Which of the server's connections it came on; the first is 1.
    public let connection: Int
    /// Which request on its connection it was; the first is 1, so a larger number means that the connection was reused.
    public let requestOnConnection: Int

    /// An item of a query.
    public struct QueryItem: Hashable, Sendable {
        /// The name, percent-decoded.
        public let name: String
        /// The value, percent-decoded; nil when there is no `=`.
        public let value: String?
    }

    /// The path as it was sent, percent-encoded, without the query.
    public var path: String {
        let path = Substring(originForm.utf8.prefix { $0 != UInt8(ascii: "?") })
        return path.isEmpty ? "/" : String(path)
    }

    /// The items of the query in order. A `+` stays a plus sign.
    public var query: [QueryItem] {
        let form = originForm.utf8
        guard let mark = form.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return form[form.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { item in
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map {
                String(Substring($0)).removingPercentEncoding ?? String(Substring($0))
            }
            return QueryItem(name: parts[0], value: parts.count > 1 ? parts[1] : nil)
        }
    }

    /// The value of the first query item of that name.
    public func query(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: The decoder's error.
    public func decode<T: Decodable>(_ type: T.Type = T.self, decoder: JSONDecoder = JSONDecoder()) throws -> T {
        try decoder.decode(type, from: Data(body))
    }

    /// The target without scheme and authority.
    private var originForm: Substring {
        guard target.utf8.first != UInt8(ascii: "/") else { return target[...] }
        let url = URLText(target)
        guard url.scheme != nil, let authority = url.authority else { return target[...] }
        return target[authority.endIndex...]
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// The request line and where it came on; no header and no body.
    public var description: String {
        "\(method) \(path) \(version) (request \(requestOnConnection) on connection \(connection))"
    }

    /// Shows what ``description`` shows, and the headers with secret values withheld.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "body": "\(bodyLength) bytes"])
    }
}
