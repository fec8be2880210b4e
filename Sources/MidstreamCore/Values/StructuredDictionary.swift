/// A Dictionary of Structured Fields (RFC 9651 §3.2), parsed strictly: a text that breaks a rule is none (§4.2).
///
/// Parameters are checked and dropped, and so is what decimals, dates and display strings say: no field that is read here uses them.
package struct StructuredDictionary: Sendable {
    package enum Value: Sendable, Equatable {
        case integer(Int64)
        case decimal
        case string(String)
        case token(String)
        /// In base64, as it is written.
        case bytes(String)
        case boolean(Bool)
        case date
        case displayString
        case list([Value])
    }

    /// Of a repeated key the last value counts.
    package private(set) var members: [String: Value] = [:]

    package subscript(key: String) -> Value? { members[key] }

    /// The fields of one name, which are one Dictionary; nil when they are none.
    package init?(_ values: [String]) {
        var parser = StructuredParser(values.joined(separator: ","))
        let isValid = parser.members { parser in
            guard let key = parser.key().map(parser.text), let value = parser.value({ $0.member() }), parser.parameters()
            else { return false }
            members[key] = value
            return true
        }
        if !isValid { return nil }
    }
}
