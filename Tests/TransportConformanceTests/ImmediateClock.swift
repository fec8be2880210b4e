/// A clock on which every wait is over at once.
struct ImmediateClock: Clock {
    private let real = ContinuousClock()

    var now: ContinuousClock.Instant { real.now }
    var minimumResolution: Duration { real.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { try Task.checkCancellation() }
}
