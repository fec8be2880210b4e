/// Counts of the exchanges of the last seconds, in ten slots.
struct FailureWindow: Sendable {
    struct Counts: Sendable, Equatable {
        var total = 0
        var failed = 0
        var slow = 0

        /// What there are more of, the failed or the slow ones.
        var text: String { slow > failed ? "\(slow) of \(total) were slow" : "\(failed) of \(total) failed" }
    }

    private static let slotCount = 10

    private let slotLength: Int64
    private var slots = ContiguousArray(repeating: Counts(), count: slotCount)
    private var sum = Counts()
    /// The present slot: its number since the beginning of time, its place, and when it ends.
    private var present: Int64 = 0
    private var place = 0
    private var end: Int64

    /// - Parameter length: That of the whole window, in nanoseconds.
    init(_ length: Int64) {
        slotLength = max(1, length / Int64(Self.slotCount))
        end = slotLength
    }

    /// Counts an exchange, and gives the counts of the window.
    mutating func count(failed: Bool, slow: Bool, at now: Int64) -> Counts {
        if now >= end { move(to: now) }
        slots[place].total += 1
        sum.total += 1
        if failed {
            slots[place].failed += 1
            sum.failed += 1
        }
        if slow {
            slots[place].slow += 1
            sum.slow += 1
        }
        return sum
    }

    mutating func clear() {
        for place in slots.indices { slots[place] = Counts() }
        sum = Counts()
    }

    private mutating func move(to now: Int64) {
        let number = max(0, now) / slotLength
        guard number > present else { return }
        if number - present >= Int64(Self.slotCount) {
            clear()
        } else {
            for passed in (present + 1)...number {
                let place = Int(passed % Int64(Self.slotCount))
                sum.total -= slots[place].total
                sum.failed -= slots[place].failed
                sum.slow -= slots[place].slow
                slots[place] = Counts()
            }
        }
        present = number
        place = Int(number % Int64(Self.slotCount))
        let (end, isTooLarge) = (number + 1).multipliedReportingOverflow(by: slotLength)
        self.end = isTooLarge ? .max : end
    }
}
