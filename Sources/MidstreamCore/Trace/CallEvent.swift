/// Something that happened to a call, in a form that programs can read.
///
/// Whoever leaves a note for people can leave an event instead, which is both: its `description` stands among the notes, and
/// ``Trace/events(of:)`` and ``Trace/Span/events`` give its parts.
///
/// ```swift
/// struct Evicted: CallEvent {
///     static let name = "cache.evicted"
///     let entries: Int
///     var attributes: [String: EventValue] { ["entries": .integer(Int64(entries))] }
///     var description: String { "evicted \(entries) entries" }
/// }
/// request.record(Evicted(entries: 3))
/// ```
public protocol CallEvent: Sendable, CustomStringConvertible {
    /// What kind of event it is: words in lower case, joined by full stops from the general to the special. It doesn't change
    /// between versions.
    static var name: String { get }
    /// Its parts by their names, without secrets.
    var attributes: [String: EventValue] { get }
}

/// What a part of an event may be.
public enum EventValue: Sendable, Hashable {
    /// A text without secrets.
    case string(String)
    /// A whole number, such as a status or a count.
    case integer(Int64)
    /// A number, such as seconds.
    case number(Double)
    /// Whether something is so.
    case boolean(Bool)

    /// A duration, in seconds.
    public static func seconds(_ duration: Duration) -> EventValue { .number(duration / .seconds(1)) }
    /// A count.
    public static func count(_ count: Int) -> EventValue { .integer(Int64(count)) }
}

extension EventValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Whether something is so.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension EventValue: Codable {
    /// Reads a text, a number or a truth value. A number without a fraction is an ``integer(_:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Writes the value alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        }
    }
}

/// The events that Midstream itself records. The modules of capabilities add theirs.
public enum CallEvents {}

extension CallEvents {
    /// The transport had sent the request more than once, since a kept connection turned out to be dead.
    public struct Resend: CallEvent, Hashable {
        /// `transport.resend`
        public static let name = "transport.resend"
        /// How often it was sent again.
        public let count: Int
        /// `count`
        public var attributes: [String: EventValue] { ["count": .count(count)] }
        /// Such as `sent again by the transport, 2 times`.
        public var description: String { "sent again by the transport\(count > 1 ? ", \(count) times" : "")" }
    }

    /// A response that came before the final one (RFC 9110 §15.2).
    public struct Interim: CallEvent, Hashable {
        /// `transport.interim`
        public static let name = "transport.interim"
        /// Its status.
        public let status: HTTPStatus
        private let text: String

        init(_ response: InterimResponse) {
            status = response.status
            text = "before it: \(response)"
        }

        /// `status`
        public var attributes: [String: EventValue] { ["status": .count(status.code)] }
        /// Such as `before it: 103 Early Hints`.
        public var description: String { text }
    }
}
