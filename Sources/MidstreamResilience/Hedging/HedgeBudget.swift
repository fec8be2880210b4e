/// The number of second exchanges allowed: a share of all exchanges, and a reserve.
struct HedgeBudget: Sendable {
    private let share: Double
    private let most: Double
    private var saved: Double
    private(set) var exchanges = 0
    private(set) var hedges = 0

    init(share: Double, reserve: Int) {
        self.share = min(max(0, share), 1)
        saved = Double(min(max(0, reserve), 1_000_000))
        // Savings of a long good time aren't all spent at once in a bad one.
        most = saved + 10
    }

    mutating func countExchange() {
        exchanges &+= 1
        saved = min(most, saved + share)
    }

    /// Takes one; false when there is none.
    mutating func take() -> Bool {
        // Sums of floating-point shares aren't exact.
        guard saved >= 1 - 1e-9 else { return false }
        saved -= 1
        hedges &+= 1
        return true
    }

    /// Gives back one that was refused, and so not sent.
    mutating func giveBack() {
        saved = min(most, saved + 1)
        hedges &-= 1
    }
}
