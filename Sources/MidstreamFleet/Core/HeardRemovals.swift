/// The removals that a member knows of, its own ones and what may have been one included, numbered in their order.
struct HeardRemovals {
    /// How many stamps are remembered; with more, everything counts as removed.
    private static let most = 10_000
    /// How many there were.
    private(set) var count = 0
    /// The last one of each stamp, since that of everything.
    private var last: [String: Int] = [:]
    private var everything = 0

    /// - Parameter stamps: Nil: any may have been removed.
    mutating func note(_ stamps: [String]?) {
        count += 1
        if let stamps, last.count + stamps.count <= Self.most {
            for stamp in stamps { last[stamp] = count }
        } else {
            (last, everything) = ([:], count)
        }
    }

    /// Whether what is valid by these stamps wasn't removed since there had been so many.
    func hasNone(of stamps: [String], since number: Int) -> Bool {
        everything <= number && stamps.allSatisfy { last[$0] ?? 0 <= number }
    }
}
