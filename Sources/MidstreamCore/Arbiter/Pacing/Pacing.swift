internal import Interception

/// Remembers which origins have asked to be left alone, so that the client's other calls wait too instead of each learning it by
/// itself.
final class Pacing: Sendable {
    /// Beyond this many, the origins whose time is over are forgotten; if there is none, the one that ends first is.
    private static let maximumOrigins = 1_000

    private let stopwatch: Stopwatch
    private let quietUntil = Locked<[HTTPOrigin: Duration]>([:])

    init(on clock: any Clock<Duration>) { stopwatch = Stopwatch(on: clock) }

    /// Notes that the origin that answered is to be left alone.
    ///
    /// - Parameters:
    ///   - url: That of the request that it answered.
    ///   - asked: The URL with which the attempt began. Where https took the place of http, other calls come by http as well and don't know
    ///     better.
    func leaveAlone(_ url: String, askedAs asked: String, for delay: Duration) {
        guard let origin = HTTPOrigin(url) else { return }
        leaveAlone(origin, for: delay)
        if let asked = HTTPOrigin(asked), asked.isSecured(as: origin) { leaveAlone(asked, for: delay) }
    }

    private func leaveAlone(_ origin: HTTPOrigin, for delay: Duration) {
        let now = stopwatch.elapsed
        quietUntil.withLock { quiet in
            quiet[origin] = max(quiet[origin] ?? .zero, now + delay)
            guard quiet.count > Self.maximumOrigins, let first = quiet.values.min() else { return }
            if first > now, let index = quiet.values.firstIndex(of: first) {
                quiet.remove(at: index)
            } else {
                quiet = quiet.filter { $0.value > now }
            }
        }
    }

    /// How long a request to the URL has to wait; nil when it needn't.
    func wait(for url: String) -> Duration? {
        guard let origin = HTTPOrigin(url) else { return nil }
        let now = stopwatch.elapsed
        return quietUntil.withLock { quiet in quiet[origin].flatMap { $0 > now ? $0 - now : nil } }
    }
}
