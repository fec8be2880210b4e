/// How long to wait before another connection.
struct ReconnectionPace {
    private static let longest = Duration.seconds(60)
    /// Where the server doesn't ask for another.
    private static let usual = Duration.seconds(3)
    /// However little the server asks for.
    private static let shortest = Duration.milliseconds(100)
    /// A connection that ends sooner is taken for one of many.
    private static let brief = Duration.seconds(1)

    /// How many connections have followed another since the last event.
    private(set) var attempts = 0
    /// The least that the wait is a random part of. Doubles with each brief connection, whatever it brings, up to the usual wait.
    private var floor = shortest

    /// An event has come.
    mutating func reset() { attempts = 0 }

    /// The wait before the next connection, given what the server asked for (in milliseconds), how long the last one lived, and random numbers
    /// in 0...1.
    mutating func delay(afterRetry retry: Int64?, lifetime: Duration, random: () -> Double) -> Duration {
        let asked = retry.map { min(max(.milliseconds($0), Self.shortest), Self.longest) }
        var ceiling = asked ?? Self.usual
        for _ in 0..<attempts where ceiling < Self.longest { ceiling *= 2 }
        if lifetime >= Self.brief { floor = Self.shortest }
        ceiling = max(ceiling, floor)
        if lifetime < Self.brief { floor = min(floor * 2, Self.usual) }
        attempts += 1
        ceiling = min(ceiling, Self.longest)
        guard let asked else { return max(Self.shortest, ceiling * random()) }
        // What a server asks for is the least (WHATWG HTML §9.2.3).
        return asked + (max(ceiling, asked * 1.5) - asked) * random()
    }
}
