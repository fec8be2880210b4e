/// A pause after failures: 100 ms, doubled by each further one up to 5 s.
struct Backoff: Sendable {
    private var length = Duration.zero
    private var end = Duration.zero

    func isOver(at now: Duration) -> Bool { now >= end }

    /// Begins the next pause.
    mutating func extend(at now: Duration) {
        length = min(max(.milliseconds(100), length * 2), .seconds(5))
        end = now + length
    }

    /// Begins a pause of a length that somebody else gives; at most a day.
    mutating func postpone(by duration: Duration, at now: Duration) { end = now + min(max(.zero, duration), .seconds(86_400)) }
}
