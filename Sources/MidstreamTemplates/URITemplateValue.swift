public import Foundation

/// What a variable of a ``URITemplate`` may stand for: a text, a number, a list or named values.
public protocol URITemplateValue {
    /// The value as a template takes it.
    var uriTemplateContent: URITemplateContent { get }
}

/// A value as a template takes it (RFC 6570 §2.3).
public enum URITemplateContent: Sendable {
    /// A text.
    case text(String)
    /// A list; an empty one is undefined.
    case list([String])
    /// Named values, in order; none are undefined.
    case pairs([(name: String, value: String)])
}

extension URITemplateValue where Self: CustomStringConvertible {
    /// The description as a text.
    public var uriTemplateContent: URITemplateContent { .text(description) }
}

extension String: URITemplateValue {}
extension Substring: URITemplateValue {}
extension Int: URITemplateValue {}
extension Int32: URITemplateValue {}
extension Int64: URITemplateValue {}
extension UInt: URITemplateValue {}
extension UInt32: URITemplateValue {}
extension UInt64: URITemplateValue {}
extension Double: URITemplateValue {}
extension Float: URITemplateValue {}
extension Bool: URITemplateValue {}
extension UUID: URITemplateValue {}

extension Array: URITemplateValue where Element: CustomStringConvertible {
    /// The elements as a list.
    public var uriTemplateContent: URITemplateContent { .list(map(\.description)) }
}

extension Dictionary: URITemplateValue where Key == String, Value: CustomStringConvertible {
    /// The values by name, in the order of the names.
    public var uriTemplateContent: URITemplateContent {
        .pairs(sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value.description) })
    }
}

extension KeyValuePairs: URITemplateValue where Key == String, Value: CustomStringConvertible {
    /// The values by name, in their order.
    public var uriTemplateContent: URITemplateContent { .pairs(map { (name: $0.key, value: $0.value.description) }) }
}
