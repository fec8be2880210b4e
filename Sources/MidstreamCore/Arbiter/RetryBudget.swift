internal import Interception

/// How many of a client's requests may be retries, so that a server that fails isn't hit harder for failing.
///
/// Within each window the retries may be at most a share of the calls, and a reserve that serves clients with little traffic. A
/// retry that a validator of the user's asks for isn't counted.
public struct RetryBudget: Sendable, Hashable {
    /// The share of the calls that may be retried; 0.2 by default.
    public var share: Double
    /// How many retries are allowed on top of the share; 10 by default.
    public var reserve: Int
    /// How far back calls and retries count, to a tenth; 10 s by default.
    public var window: Duration

    /// Makes a budget; every parameter's default is the property's.
    public init(share: Double = 0.2, reserve: Int = 10, window: Duration = .seconds(10)) {
        self.share = share
        self.reserve = reserve
        self.window = window
    }

    /// Where a client stands.
    public struct State: Sendable, Hashable {
        /// Calls within the window.
        public let calls: Int
        /// Counted retries within the window.
        public let retries: Int
        /// How many more retries are allowed now.
        public let available: Int
    }
}

/// Keeps a client's account of calls and retries in tenths of the budget's window.
final class RetryLedger: Sendable {
    private struct Slot {
        var number: UInt64
        var calls = 0
        var retries = 0
    }

    private let budget: RetryBudget
    private let slotLength: UInt64
    private let now: @Sendable () -> UInt64
    private let slots = Locked<[Slot]>([])

    /// - Parameter now: Nanoseconds of a clock that never goes back.
    init(_ budget: RetryBudget, now: @escaping @Sendable () -> UInt64 = { monotonicNanoseconds() }) {
        self.budget = budget
        self.now = now
        // A century is as good as any longer time, and its nanoseconds can be counted.
        let window = min(max(.zero, budget.window), .seconds(100 * 366 * 86_400)).components
        slotLength = UInt64(max(10, window.seconds * 1_000_000_000 + window.attoseconds / 1_000_000_000)) / 10
    }

    func countCall() {
        withSlots { slots in slots[slots.count - 1].calls += 1 }
    }

    /// Takes one retry from the budget; false when there is none.
    func takeRetry() -> Bool {
        withSlots { slots in
            guard available(slots) > 0 else { return false }
            slots[slots.count - 1].retries += 1
            return true
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
        let retries = slots.reduce(0) { $0 + $1.retries }
        // Neither the sum nor the conversion can overflow, whatever the budget says.
        let share = min(max(0, budget.share), 1e6)
        let allowed = Double(max(0, budget.reserve)) + (Double(calls) * share).rounded(.down)
        return max(0, Int(min(allowed, 1e15)) - retries)
    }

    /// Calls `body` with the slots of the window, the present one last.
    private func withSlots<Result>(_ body: (inout [Slot]) -> Result) -> Result {
        slots.withLock { slots in
            // Under the lock, so that the slots stay in order.
            let number = now() / slotLength
            slots.removeAll { $0.number + 10 <= number }
            if slots.last?.number != number { slots.append(Slot(number: number)) }
            return body(&slots)
        }
    }
}
