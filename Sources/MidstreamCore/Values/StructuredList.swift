/// A List of Structured Fields (RFC 9651 §3.1), parsed strictly: a text that breaks a rule is none (§4.2).
package struct StructuredList: Sendable {
    package typealias Value = StructuredDictionary.Value

    /// A member and its parameters.
    package struct Member: Sendable {
        package let value: Value
        /// In order. Of a repeated key the last value counts.
        fileprivate var parameters: [(key: String, value: Value)] = []

        package subscript(key: String) -> Value? { parameters.last { $0.key == key }?.value }
    }

    /// In order.
    package private(set) var members: [Member] = []

    /// The fields of one name, which are one List; nil when they are none.
    package init?(_ values: [String]) {
        var parser = StructuredParser(values.joined(separator: ","))
        let isValid = parser.members { parser in
            guard let value = parser.member() else { return false }
            var member = Member(value: value)
            guard parser.parameters({ member.parameters.append(($0.text($1), $2)) }) else { return false }
            members.append(member)
            return true
        }
        if !isValid { return nil }
    }
}
