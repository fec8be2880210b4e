/// How long to wait before another connection.
struct ReconnectionPace {
    private static let longest = Duration.seconds(60)
    /// What a server that asks for less gets when its connections bring nothing.
    private static let shortest = Duration.milliseconds(100)

    /// How many connections have followed another since the last event.
    private(set) var attempts = 0

    /// An event has come.
    mutating func reset() { attempts = 0 }

    /// The wait before the next connection.
    ///
    /// - Parameters:
    ///   - retry: What the server has asked for, in milliseconds.
    ///   - random: Gives numbers in 0..<1.
    mutating func delay(afterRetry retry: Int64?, random: () -> Double) -> Duration {
        var ceiling = retry.map { Duration.milliseconds($0) } ?? .seconds(3)
        if attempts > 0 { ceiling = max(ceiling, Self.shortest) }
        for _ in 0..<attempts where ceiling < Self.longest { ceiling *= 2 }
        attempts += 1
        return min(ceiling, Self.longest) * random()
    }
}
