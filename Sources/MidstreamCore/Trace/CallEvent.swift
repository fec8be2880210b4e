/// Something that happened to a call, in a form that programs can read.
///
/// An event is a note with parts: its description stands among the notes, and ``Trace/events(named:)`` and ``Trace/Span/events`` have
/// its name and attributes.
///
/// ```swift
/// request.record(CallEvent("cache.evicted", "evicted 3 entries", ["entries": 3]))
/// ```
public struct CallEvent: Sendable, CustomStringConvertible {
    /// The kind of event: words in lower case, joined by full stops from the general to the special. Midstream's own names don't
    /// change between versions.
    public let name: String
    /// The event in a few words, without secrets.
    public let description: String
    private let parts: @Sendable () -> [String: EventValue?]

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - name: Its kind, such as `cache.evicted`.
    ///   - description: A few words without secrets.
    ///   - attributes: Its parts by their names, without secrets; nil leaves one out. Not evaluated before somebody reads them.
    public init(
        _ name: String, _ description: String, _ attributes: @autoclosure @escaping @Sendable () -> [String: EventValue?] = [:]
    ) {
        self.name = name
        self.description = description
        parts = attributes
    }

    /// The same in other words.
    func saying(_ text: String) -> CallEvent { CallEvent(name, text, parts()) }

    /// Its parts by their names.
    public var attributes: [String: EventValue] { parts().compactMapValues { $0 } }
}

/// A part of an event.
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

    /// The value; infinite numbers and NaN as text, since JSON has neither.
    package var inJSON: EventValue {
        if case .number(let number) = self, !number.isFinite { .string("\(number)") } else { self }
    }

    /// Writes the value alone; an infinite number, and what is none, as a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch inJSON {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        }
    }
}

extension TransportMetrics {
    /// The responses before the final one (RFC 9110 §15.2), a hundred at most, and the resends.
    var events: [CallEvent] {
        var events = interim.prefix(100).map { response in
            CallEvent("transport.interim", "before it: \(response)", ["status": .count(response.status.code)])
        }
        if let count = resends, count > 0 {
            events.append(
                CallEvent(
                    "transport.resend", "sent again by the transport\(count > 1 ? ", \(count) times" : "")",
                    ["count": .count(count)]))
        }
        return events
    }
}
