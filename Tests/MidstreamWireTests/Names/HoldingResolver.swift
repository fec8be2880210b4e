#if os(Linux)
    import Interception
    import TestSupport

    /// Takes every host for this machine, and holds one of its lookups until the gate is open.
    final class HoldingResolver: Sendable {
        let gate = Gate()
        private let held: Int
        private let lookups = Locked(0)

        /// - Parameter number: The lookup's that is held, from 1 on.
        init(holding number: Int) { held = number }

        func addresses(of host: String) async throws -> [String] {
            if lookups.increment() == held { await gate.wait() }
            return ["127.0.0.1"]
        }
    }
#endif
