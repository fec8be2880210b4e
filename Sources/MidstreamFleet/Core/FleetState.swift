/// How a member of a fleet is doing.
public struct FleetState: Sendable, Hashable {
    /// Whether the store answers.
    public enum Connection: Sendable, Hashable {
        /// Nobody has asked yet, or the first connection is being made.
        case connecting
        /// It does, after so long on average.
        case connected(latency: Duration)
        /// It doesn't: for how long, and why. Decisions are made locally.
        case degraded(since: Duration, because: String)
    }

    /// Whether the store answers.
    public let connection: Connection
    /// How many members there were when it was last known.
    public let members: Int
    /// How many refreshes this member has made.
    public let refreshes: Int

    /// Whether decisions are made locally.
    public var isDegraded: Bool { if case .degraded = connection { true } else { false } }
}

extension FleetState: CustomStringConvertible {
    /// All of it in a line.
    public var description: String {
        let how =
            switch connection {
            case .connecting: "connecting"
            case .connected(let latency): "connected (\(latency.inMilliseconds))"
            case .degraded(let since, let reason): "degraded for \(since.inMilliseconds): \(reason)"
            }
        return "\(how), \(members) members, \(refreshes) refreshes here"
    }
}

extension Duration {
    fileprivate var inMilliseconds: String { "\((self / .microseconds(1)).rounded() / 1_000) ms" }
}
