/// A point in the time of a clock that isn't the system's: of a ``TestClock`` or a ``SimulatedClock``.
public struct VirtualInstant: InstantProtocol, CustomStringConvertible {
    /// How long after the clock's beginning.
    public let offset: Duration

    /// Makes the instant so long after the clock's beginning.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// A later instant, or an earlier one.
    public func advanced(by duration: Duration) -> VirtualInstant { VirtualInstant(offset: offset + duration) }

    /// How long from here to another instant.
    public func duration(to other: VirtualInstant) -> Duration { other.offset - offset }

    /// Compares times.
    public static func < (a: VirtualInstant, b: VirtualInstant) -> Bool { a.offset < b.offset }

    /// The offset.
    public var description: String { "\(offset)" }
}
