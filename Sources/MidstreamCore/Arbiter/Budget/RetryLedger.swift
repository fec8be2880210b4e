internal import Interception

/// Keeps a client's account of calls and retries in tenths of the budget's window.
final class RetryLedger: Sendable {
    private struct Slot {
        var number: Int64
        var calls = 0
        var retries = 0
        var cost = 0
    }

    private let budget: RetryBudget
    /// In nanoseconds.
    private let slotLength: Int64
    private let stopwatch: Stopwatch
    private let slots = Locked<[Slot]>([])

    init(_ budget: RetryBudget, on clock: any Clock<Duration>) {
        self.budget = budget
        stopwatch = Stopwatch(on: clock)
        slotLength = max(10, min(max(.zero, budget.window), .longest).wholeNanoseconds) / 10
    }

    func countCall() {
        withSlots { slots in slots[slots.count - 1].calls += 1 }
    }

    /// Takes one retry from the budget; false when it costs more than is left.
    func takeRetry(cost: Int = 1) -> Bool {
        withSlots { slots in
            guard available(slots) >= cost else { return false }
            slots[slots.count - 1].retries += 1
            slots[slots.count - 1].cost += cost
            return true
        }
    }

    /// Notes retries that have been made without a look at the budget.
    func count(resends: Int) {
        withSlots { slots in
            slots[slots.count - 1].retries += resends
            slots[slots.count - 1].cost += resends
        }
    }

    var state: RetryBudget.State {
        withSlots { slots in
            RetryBudget.State(
                calls: slots.reduce(0) { $0 + $1.calls }, retries: slots.reduce(0) { $0 + $1.retries },
                available: available(slots))
        }
    }

    private func available(_ slots: [Slot]) -> Int {
        let calls = slots.reduce(0) { $0 + $1.calls }
        let cost = slots.reduce(0) { $0 + $1.cost }
        // Neither the sum nor the conversion can overflow, whatever the budget says.
        let share = min(max(0, budget.share), 1e6)
        let allowed = Double(max(0, budget.reserve)) + (Double(calls) * share).rounded(.down)
        return max(0, Int(min(allowed, Double(Int.max / 2))) - cost)
    }

    /// Calls `body` with the slots of the window, the present one last.
    private func withSlots<Result>(_ body: (inout [Slot]) -> Result) -> Result {
        slots.withLock { slots in
            // Under the lock, so that the slots stay in order.
            let number = stopwatch.elapsedNanoseconds / slotLength
            slots.removeAll { $0.number + 10 <= number }
            if slots.last?.number != number { slots.append(Slot(number: number)) }
            return body(&slots)
        }
    }
}
