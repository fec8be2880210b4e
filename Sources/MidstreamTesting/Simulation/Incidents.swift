public import MidstreamCore

/// What goes wrong in a simulation, and when.
///
/// ```swift
/// .from(60, to: 70, .slower(4))
/// .from(120, to: 125, .errors(0.5, status: 503))
/// ```
public struct Incidents: Sendable {
    /// What goes wrong.
    public struct Effect: Sendable {
        enum Kind: Sendable {
            case slower(Double)
            case cold(Double)
            case replica(Int, Double)
            case fault(Fault, share: Double)
            case connectTimeout(Duration)
        }

        let kind: Kind

        /// Work that begins in this time takes so many times as long.
        public static func slower(_ factor: Double) -> Effect { Effect(kind: .slower(factor)) }
        /// As ``slower(_:)`` at the beginning, then ever less: a cache that fills.
        public static func cold(_ factor: Double) -> Effect { Effect(kind: .cold(factor)) }
        /// One of the replicas, the first of which is 0, is slower.
        public static func replica(_ number: Int, slower factor: Double) -> Effect { Effect(kind: .replica(number, factor)) }
        /// A share of the exchanges goes wrong, all by default: see ``Fault``.
        public static func fault(_ fault: Fault, share: Double = 1) -> Effect { Effect(kind: .fault(fault, share: share)) }
        /// A share of the requests is answered with this status at once.
        public static func errors(_ share: Double, status: HTTPStatus) -> Effect { .fault(.status(status), share: share) }
        /// A share of the requests is never answered.
        public static func loss(_ share: Double) -> Effect { .fault(.stall(.beforeHead), share: share) }
        /// No connection can be made.
        public static let unreachable = fault(.error(.connection))
        /// Connections hang: each exchange fails after this time, if its client waits so long, and nothing is sent.
        public static func connectTimeout(_ time: Duration) -> Effect { Effect(kind: .connectTimeout(time)) }
    }

    struct Incident: Sendable {
        let start: Duration
        let end: Duration
        let effect: Effect
    }

    let all: [Incident]

    /// Nothing goes wrong.
    public init() { all = [] }

    init(all: [Incident]) { self.all = all }

    /// One incident.
    ///
    /// - Parameters:
    ///   - start: In seconds of the simulation.
    ///   - end: In seconds of the simulation.
    public static func from(_ start: Double, to end: Double, _ effect: Effect) -> Incidents {
        Incidents().from(start, to: end, effect)
    }

    /// These, and one more; several may go on at the same time.
    public func from(_ start: Double, to end: Double, _ effect: Effect) -> Incidents {
        let second = Duration.seconds(1)
        let (start, end) = (second.times(start), second.times(end))
        return Incidents(all: all + [Incident(start: start, end: max(start, end), effect: effect)])
    }
}

/// Puts incidents together from a list of expressions.
@resultBuilder
public enum IncidentBuilder {
    /// Some incidents.
    public static func buildExpression(_ incidents: Incidents) -> Incidents { incidents }
    /// The list.
    public static func buildBlock(_ parts: Incidents...) -> Incidents { Incidents(all: parts.flatMap(\.all)) }
    /// `if` without `else`.
    public static func buildOptional(_ part: Incidents?) -> Incidents { part ?? Incidents() }
    /// `if`.
    public static func buildEither(first part: Incidents) -> Incidents { part }
    /// `else`.
    public static func buildEither(second part: Incidents) -> Incidents { part }
    /// `for`.
    public static func buildArray(_ parts: [Incidents]) -> Incidents { Incidents(all: parts.flatMap(\.all)) }
}
