/// An entity tag (RFC 9110 §8.8.3). One that servers send without its quotes is taken as it stands.
package struct EntityTag: Sendable, Hashable {
    /// As it is sent.
    package let text: String

    /// The tag that a field's value is; nil when it is empty.
    package init?(_ value: String) {
        guard !value.isEmpty else { return nil }
        text = value
    }

    package var isWeak: Bool { text.utf8.starts(with: "W/".utf8) }

    /// What is compared.
    fileprivate var opaque: Substring {
        let rest = text.utf8.dropFirst(isWeak ? 2 : 0)
        return Substring(Self.hasQuotes(rest) ? rest.dropFirst().dropLast() : rest)
    }

    private static func hasQuotes(_ text: Substring.UTF8View) -> Bool {
        text.count >= 2 && text.first == quote && text.last == quote
    }

    /// The strong comparison (§8.8.3.2).
    package func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && isWeaklyEqual(to: other) }

    /// The weak comparison.
    package func isWeaklyEqual(to other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }

    /// Whether it is another one with the name of a content coding behind it, as servers mark what they have encoded; some leave that out of
    /// the 304 that answers it.
    package func isCodedForm(of other: EntityTag) -> Bool {
        guard isWeak == other.isWeak, opaque.utf8.starts(with: other.opaque.utf8) else { return false }
        let suffix = opaque.utf8.dropFirst(other.opaque.utf8.count)
        return ["gzip", "br", "zstd", "deflate"].contains { coding in
            ["-", "--"].contains { suffix.elementsEqual("\($0)\(coding)".utf8) }
        }
    }

    /// Whether two representations with it are the same byte for byte.
    package var isStrong: Bool { text.utf8.first == Self.quote && text.utf8.last == Self.quote && text.utf8.count >= 2 }

    fileprivate static let quote = UInt8(ascii: "\"")
}

/// The condition of an `If-None-Match` (RFC 9110 §13.1.2).
package enum EntityTagCondition: Sendable, Equatable {
    case any
    /// The lists, which are taken apart when somebody asks for a tag.
    case tags([String])

    /// Nil when there is no such field.
    package init?(_ values: [String]) {
        guard !values.isEmpty else { return nil }
        self = values.contains("*") ? .any : .tags(values)
    }

    package func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: return true
        case .tags(let lists):
            guard var opaque = tag?.opaque else { return false }
            return opaque.withUTF8 { opaque in
                lists.contains { list in
                    var list = list
                    return list.withUTF8 { Self.list($0, holds: opaque) }
                }
            }
        }
    }

    /// Whether one of the tags of a list is weakly equal to another. A comma may stand within the quotes of one, where a backslash is a
    /// character like any other.
    private static func list(_ list: UnsafeBufferPointer<UInt8>, holds opaque: UnsafeBufferPointer<UInt8>) -> Bool {
        var place = 0
        while true {
            while place < list.count, isSpace(list[place]) || list[place] == UInt8(ascii: ",") { place += 1 }
            guard place < list.count else { return false }
            if list[place] == UInt8(ascii: "W"), place + 1 < list.count, list[place + 1] == UInt8(ascii: "/") { place += 2 }
            let isQuoted = place < list.count && list[place] == EntityTag.quote
            var start = isQuoted ? place + 1 : place
            let mark = isQuoted ? EntityTag.quote : UInt8(ascii: ",")
            var end = start
            while end < list.count, list[end] != mark { end += 1 }
            let isWellFormed = isQuoted && end < list.count
            place = isWellFormed ? end + 1 : end
            if !isWellFormed {
                if isQuoted { start -= 1 }
                while end > start, isSpace(list[end - 1]) { end -= 1 }
            }
            if end - start == opaque.count, list[start..<end].elementsEqual(opaque) { return true }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}
