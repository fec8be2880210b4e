public import MidstreamCore

/// A link from one resource to another, as the `Link` header gives it (RFC 8288 §3).
public struct HTTPLink: Sendable, Hashable {
    /// Where it leads, as it was given: absolute or relative to the response's URL.
    public let target: String
    /// What it means, in small letters, such as `next`.
    public let relations: [String]
    /// What it is a link of, when that isn't the response itself.
    public let anchor: String?

    /// The links of a message, in order. What can't be read is left out.
    public static func all(in headers: HTTPHeaders) -> [HTTPLink] {
        headers.values(.link).flatMap { value in
            var reader = LinkReader(value)
            return reader.links()
        }
    }

    /// The URL that the first link of a relation leads to, seen from the response; nil when there is none that can be requested.
    public static func url(_ relation: String, in response: HTTPResponse) -> String? {
        let wanted = relation.lowercased()
        let link = all(in: response.headers).first { $0.relations.contains(wanted) && $0.anchor == nil }
        return link.flatMap { URLText.resolve(location: $0.target, from: response.request.urlText) }
    }
}

/// Reads the value of a `Link` header.
private struct LinkReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) { bytes = Array(value.utf8) }

    mutating func links() -> [HTTPLink] {
        var links: [HTTPLink] = []
        while position < bytes.count {
            if let link = link() { links.append(link) } else { skipToComma() }
            skipSpace()
            if current == UInt8(ascii: ",") { position += 1 }
        }
        return links
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while current == 32 || current == 9 { position += 1 }
    }

    private mutating func link() -> HTTPLink? {
        skipSpace()
        guard current == UInt8(ascii: "<"), let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let target = text(bytes[(position + 1)..<end])
        position = end + 1
        var relations: [String]?
        var anchor: String?
        while let (name, value) = parameter() {
            switch name {
            // The first counts (RFC 8288 §3.3).
            case "rel": relations = relations ?? value.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
            case "anchor": anchor = anchor ?? value
            default: continue
            }
        }
        return HTTPLink(target: target, relations: relations ?? [], anchor: anchor)
    }

    private mutating func parameter() -> (name: String, value: String)? {
        skipSpace()
        while current == UInt8(ascii: ";") {
            position += 1
            skipSpace()
        }
        let start = position
        while let byte = current, byte.isTokenCharacter { position += 1 }
        guard position > start else { return nil }
        let name = text(bytes[start..<position]).lowercased()
        skipSpace()
        guard current == UInt8(ascii: "=") else { return (name, "") }
        position += 1
        skipSpace()
        return (name, current == UInt8(ascii: "\"") ? quoted() : unquoted())
    }

    private mutating func quoted() -> String {
        var content: [UInt8] = []
        position += 1
        while let byte = current, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
            content.append(bytes[position])
            position += 1
        }
        position = min(position + 1, bytes.count)
        return text(content[...])
    }

    /// Reads a value up to what can only stand behind it; senders leave quotes out around more than tokens.
    private mutating func unquoted() -> String {
        let start = position
        while let byte = current, !";, \t".utf8.contains(byte) { position += 1 }
        return text(bytes[start..<position])
    }

    private mutating func skipToComma() {
        while let byte = current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quoted() } else { position += 1 }
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
