#if os(Linux)
    /// How many exchanges in a row were the only one under way and short enough for callers to drive the next ones.
    package struct ShortExchanges {
        /// The longest, in nanoseconds: one millisecond, in which servers nearby answer.
        package var limit: UInt64 = 1_000_000
        /// ``LoopInbox/rest(lookingEvery:)``
        package var lookInterval: Int32 = 5
        private static let fewest = 2
        private static let most = 1024

        /// When the only exchange under way began; nil when there are several.
        private var start: UInt64?
        private var count = 0
        /// How many it takes; doubled each time that a caller has had to leave.
        private var needed = fewest
        /// How many exchanges were driven to their end by callers, for the tests.
        package private(set) var driven = 0

        var invitesCallers: Bool { count >= needed }

        mutating func begin(isAlone: Bool, at now: UInt64) {
            start = isAlone ? now : nil
            if !isAlone { count = 0 }
        }

        mutating func end(at now: UInt64) {
            let isShort = start.map { now - $0 <= limit } ?? false
            count = isShort ? min(count + 1, Self.most) : 0
        }

        /// Notes how a caller has left the loop.
        mutating func wasDriven(toEnd isOver: Bool) {
            if isOver {
                driven += 1
                needed = Self.fewest
            } else {
                count = 0
                needed = min(needed * 2, Self.most)
            }
        }

        mutating func forget() { count = 0 }
    }
#endif
