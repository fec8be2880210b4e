/// An event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` when the server doesn't say.
    public var name: String
    /// Its data; several lines are joined by LF.
    public var data: String
    /// The last identifier that the server has given, with this event or one before it; empty when there is none.
    public var id: String

    /// Makes an event, as tests do.
    public init(name: String = "message", data: String, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// How large a part of an event stream may become in memory. Past it reading fails with
/// ``HTTPError/Code/bodyTooLarge``.
public struct EventLimits: Sendable, Hashable {
    /// The bytes of a line; 1 MiB by default.
    public var line: Int
    /// The bytes of an event's data, line ends included; 8 MiB by default.
    public var event: Int

    /// Makes limits.
    public init(line: Int = 1 << 20, event: Int = 8 << 20) {
        self.line = line
        self.event = event
    }
}
