/// A Dictionary of Structured Fields (RFC 9651 §3.2), parsed strictly: a text that breaks a rule is none (§4.2).
///
/// Parameters are checked and dropped: no field that is read here uses them.
package struct StructuredDictionary: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case integer(Int64)
        case decimal(Double)
        case string(String)
        case token(String)
        /// In base64, as it is written.
        case bytes(String)
        case boolean(Bool)
        case date(Int64)
        case displayString
        case list([Value])
    }

    /// The members in order. Of a repeated key the last value counts, in the place of the first.
    package private(set) var members: [(key: String, value: Value)] = []
    private var places: [String: Int] = [:]

    package subscript(key: String) -> Value? { places[key].map { members[$0].value } }

    /// The fields of one name, which are one Dictionary; nil when they are none.
    package init?(_ values: [String]) {
        var parser = StructuredParser(values.joined(separator: ","))
        let isValid = parser.members { parser in
            guard let key = parser.key().map(parser.text), let value = parser.value({ $0.member() }), parser.parameters()
            else { return false }
            if let place = places[key] {
                members[place].value = value
            } else {
                places[key] = members.count
                members.append((key, value))
            }
            return true
        }
        if !isValid { return nil }
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.members.elementsEqual(b.members) { $0.key == $1.key && $0.value == $1.value }
    }
}
