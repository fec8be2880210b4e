internal import Foundation
internal import MidstreamCore

/// How long a server works on a request, or something else takes: a distribution of times.
public struct ServiceTime: Sendable, Hashable {
    private indirect enum Kind: Sendable, Hashable {
        case constant(Duration)
        case exponential(mean: Duration)
        case lognormal(median: Duration, width: Double)
        case bimodal(usual: ServiceTime, share: Double, slow: ServiceTime)
        case samples([Duration])
    }

    private let kind: Kind

    /// Always so long.
    public static func constant(_ time: Duration) -> ServiceTime { ServiceTime(kind: .constant(time)) }

    /// Mostly short and now and then long, as waiting times are.
    public static func exponential(mean: Duration) -> ServiceTime { ServiceTime(kind: .exponential(mean: mean)) }

    /// As servers mostly are: half of the answers within the median, one in a hundred beyond `p99`.
    public static func lognormal(median: Duration, p99: Duration) -> ServiceTime {
        let ratio: Double = p99 / max(median, .nanoseconds(1))
        // The quantile of 0.99 of the standard normal distribution.
        let width = log(max(1, ratio)) / 2.326_347_874_040_841
        return ServiceTime(kind: .lognormal(median: median, width: width))
    }

    /// A share of the requests takes one time, the others another.
    public static func bimodal(_ usual: ServiceTime, share: Double, takes slow: ServiceTime) -> ServiceTime {
        ServiceTime(kind: .bimodal(usual: usual, share: share, slow: slow))
    }

    /// One of these, such as times from a record of real traffic; `.zero` for none.
    public static func samples(_ times: [Duration]) -> ServiceTime { ServiceTime(kind: .samples(times)) }

    func time(_ random: SimulatedRandom) -> Duration {
        switch kind {
        case .constant(let time): max(.zero, time)
        case .exponential(let mean): mean.times(random.exponential())
        case .lognormal(let median, let width): median.times(exp(random.normal() * width))
        case .bimodal(let usual, let share, let slow): random.share() < share ? slow.time(random) : usual.time(random)
        case .samples(let times):
            times.isEmpty ? .zero : max(.zero, times[Int(random.next() % UInt64(times.count))])
        }
    }
}
