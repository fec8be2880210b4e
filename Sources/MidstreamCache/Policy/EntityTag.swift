internal import MidstreamCore

/// An entity tag (RFC 9110 §8.8.3). One that servers send without its quotes is taken as it stands.
struct EntityTag: Sendable, Hashable {
    /// As it is sent.
    let text: String
    let isWeak: Bool
    /// What is compared.
    private let opaque: Substring
    /// Whether it has the quotes that it should have.
    let isWellFormed: Bool

    /// The tag that a field's value is; nil when it is empty.
    init?(_ value: String) {
        guard !value.isEmpty else { return nil }
        text = value
        isWeak = value.utf8.starts(with: "W/".utf8)
        let rest = isWeak ? Substring(value.utf8.dropFirst(2)) : value[...]
        isWellFormed = rest.utf8.count >= 2 && rest.utf8.first == Self.quote && rest.utf8.last == Self.quote
        opaque = isWellFormed ? Substring(rest.utf8.dropFirst().dropLast()) : rest
    }

    /// The strong comparison (§8.8.3.2).
    func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && isWeaklyEqual(to: other) }

    /// The weak comparison.
    func isWeaklyEqual(to other: EntityTag) -> Bool { opaque == other.opaque }

    /// Whether two representations with it are the same byte for byte.
    var isStrong: Bool { !isWeak && isWellFormed }

    fileprivate static let quote = UInt8(ascii: "\"")
}

/// The condition of an `If-None-Match` (RFC 9110 §13.1.2).
enum EntityTagCondition: Sendable, Equatable {
    case any
    case tags([EntityTag])

    /// Nil when there is no such field.
    init?(_ values: [String]) {
        guard !values.isEmpty else { return nil }
        var tags: [EntityTag] = []
        for value in values {
            if value == "*" {
                self = .any
                return
            }
            tags += Self.tags(in: value)
        }
        self = .tags(tags)
    }

    func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.isWeaklyEqual(to: tag) } } ?? false
        }
    }

    /// The tags of a list. A comma may stand within the quotes of one, where a backslash is a character like any other.
    private static func tags(in value: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = value.utf8[...]
        while true {
            rest = rest.drop { $0 == 32 || $0 == 9 || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return tags }
            var end = rest.startIndex
            if rest.starts(with: "W/".utf8) { end = rest.index(end, offsetBy: 2) }
            if end < rest.endIndex, rest[end] == EntityTag.quote {
                let content = rest.index(after: end)
                end = rest[content...].firstIndex(of: EntityTag.quote).map { rest.index(after: $0) } ?? rest.endIndex
            } else {
                end = rest[end...].firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            }
            if let tag = EntityTag(String(Substring(rest[..<end].trimmed))) { tags.append(tag) }
            rest = rest[end...]
        }
    }
}
