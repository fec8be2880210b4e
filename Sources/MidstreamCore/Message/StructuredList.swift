/// A List of Structured Fields (RFC 9651 §3.1), read by the book: a text that breaks a rule is none at all (§4.2).
package struct StructuredList: Sendable {
    package typealias Value = StructuredDictionary.Value

    /// A member and its parameters.
    package struct Member: Sendable {
        package let value: Value
        /// In order; of a key that comes twice the last value counts.
        fileprivate var parameters: [(key: String, value: Value)] = []

        package subscript(key: String) -> Value? { parameters.last { $0.key == key }?.value }
    }

    /// In order.
    package private(set) var members: [Member] = []

    /// The fields of one name, which are one List; nil when they are none.
    package init?(_ values: [String]) {
        var parser = StructuredParser(values.joined(separator: ","))
        parser.skipSpaces()
        guard !parser.isAtEnd else { return }
        while true {
            guard members.count < StructuredParser.mostMembers, let value = parser.member() else { return nil }
            var member = Member(value: value)
            guard parser.parameters({ member.parameters.append(($0.text($1), $2)) }) else { return nil }
            members.append(member)
            parser.skipWhitespace()
            if parser.isAtEnd { return }
            guard parser.take(",") else { return nil }
            parser.skipWhitespace()
            if parser.isAtEnd { return nil }
        }
    }
}
