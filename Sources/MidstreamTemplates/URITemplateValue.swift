public import Foundation
internal import MidstreamCore

/// What a variable of a ``URITemplate`` may stand for: a text, a number, a list or named values.
public protocol URITemplateValue {
    /// The value as a template takes it.
    var uriTemplateContent: URITemplateContent { get }
}

/// A value as a template takes it (RFC 6570 §2.3).
public enum URITemplateContent: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A list; an empty one is undefined.
    case list([String])
    /// Named values, in order; none are undefined.
    case pairs([Pair])

    /// A value with its name.
    public struct Pair: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value.
        public let value: String

        /// Makes a pair.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
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
        .pairs(sorted { $0.key < $1.key }.map { .init($0.key, $0.value.description) })
    }
}

extension KeyValuePairs: URITemplateValue where Key == String, Value: CustomStringConvertible {
    /// The values by name, in their order.
    public var uriTemplateContent: URITemplateContent { .pairs(map { .init($0.key, $0.value.description) }) }
}
