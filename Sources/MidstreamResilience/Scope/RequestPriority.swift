public import MidstreamCore

/// The importance of a request when not all can be sent.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Refused first: a prefetch, a refresh in the background.
    case sheddable
    /// The default.
    case normal

    /// The more important one is greater.
    public static func < (a: RequestPriority, b: RequestPriority) -> Bool { a.rawValue < b.rawValue }

    /// `sheddable` or `normal`.
    public var description: String { self == .sheddable ? "sheddable" : "normal" }
}

private enum PriorityKey: RequestContextKey { static let defaultValue = RequestPriority.normal }

extension HTTPRequest {
    /// The importance when not all requests can be sent; `.normal` by default. It never goes on the wire.
    public var priority: RequestPriority {
        get { context[PriorityKey.self] }
        set { context[PriorityKey.self] = newValue }
    }

    /// Whether it is refused before normal ones.
    var isSheddable: Bool { carries(PriorityKey.self) && context[PriorityKey.self] == .sheddable }
}
