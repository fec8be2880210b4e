/// How long a server works on a request.
public struct ServiceTime: Sendable {
    private let draw: @Sendable (SimulatedRandom) -> Duration

    private init(_ draw: @escaping @Sendable (SimulatedRandom) -> Duration) { self.draw = draw }

    /// Always so long.
    public static func constant(_ time: Duration) -> ServiceTime { ServiceTime { _ in time } }

    /// Mostly short and now and then long, as waiting times are.
    public static func exponential(mean: Duration) -> ServiceTime { ServiceTime { mean * $0.exponential() } }

    /// As servers mostly are: half of the answers within the median, one in a hundred beyond `p99`.
    public static func lognormal(median: Duration, p99: Duration) -> ServiceTime {
        // The quantile of 0.99 of the standard normal distribution.
        let width = logarithm(max(1, p99 / max(median, .nanoseconds(1)))) / 2.326_347_874_040_841
        return ServiceTime { median * exponentiated($0.normal() * width) }
    }

    /// A share of the requests takes one time, the others another.
    public static func bimodal(_ usual: ServiceTime, share: Double, takes slow: ServiceTime) -> ServiceTime {
        ServiceTime { $0.share() < share ? slow.time($0) : usual.time($0) }
    }

    /// One of these, such as times from a record of real traffic; `.zero` for none.
    public static func samples(_ times: [Duration]) -> ServiceTime {
        ServiceTime { times.isEmpty ? .zero : times[Int($0.next() % UInt64(times.count))] }
    }

    func time(_ random: SimulatedRandom) -> Duration { max(.zero, draw(random)) }
}
