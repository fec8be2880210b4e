internal import Foundation
public import MidstreamCore

/// An event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of event; `message` by default.
    public var name: String
    /// Its data; several lines are joined by LF.
    public var data: String
    /// The last identifier that the server has given, with this event or one before it; empty when there is none.
    public var id: String
    /// How long clients are to wait before they connect again, as the server has said last; nil when it hasn't. No part of what events are
    /// compared by. Who connects by ``HTTPClient/events(_:silenceLimit:lineLimit:eventLimit:onReconnect:)`` needn't care.
    public var retry: Duration?
    /// What decodes its data where nothing else is given; no part of what events are compared by.
    var decoder: (any BodyDecoder)?

    /// Makes an event, as tests do.
    public init(name: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.name = name
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// Decodes the data.
    ///
    /// - Parameter decoder: nil, the default: for an event of ``HTTPClient/events(_:silenceLimit:lineLimit:eventLimit:onReconnect:)`` the request's or the
    ///   client's, or else a plain `JSONDecoder`.
    /// - Throws: ``HTTPError/Code/decoding``, with the place of the unexpected data, without quoting it.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) throws -> Value {
        try JSONDecoding(of: nil, named: "The event's data").decode(type, from: Data(data.utf8), by: decoder ?? self.decoder)
    }

    /// Whether the two are equal.
    public static func == (a: Self, b: Self) -> Bool { (a.name, a.data, a.id) == (b.name, b.data, b.id) }

    /// Hashes what they are compared by.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(data)
        hasher.combine(id)
    }
}

/// How large a part of an event stream may become in memory.
struct EventLimits {
    /// The bytes of a line.
    let line: Int
    /// The bytes of an event's data, line ends included.
    let event: Int

    /// - Parameter line: By default 1 MiB, as comments count, too, or what an event in one line needs, behind the name of its field.
    init(line: Int? = nil, event: Int = 8 << 20) {
        self.event = event
        self.line = line ?? max(1 << 20, min(event, .max - 64) + 64)
    }

    var linePassed: HTTPError {
        HTTPError(.bodyTooLarge, "A line of the event stream has more than \(line) bytes (lineLimit).", phase: .answered)
    }

    var eventPassed: HTTPError {
        HTTPError(.bodyTooLarge, "The data of an event has more than \(event) bytes (eventLimit).", phase: .answered)
    }
}
