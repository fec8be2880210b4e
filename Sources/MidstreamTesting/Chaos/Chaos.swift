public import Interception
public import MidstreamCore

/// Lets exchanges go wrong on purpose, to see what becomes of them before an outage shows it.
///
/// ```swift
/// let chaos = Chaos(seed: 1, rules: [
///     .init(.status(.serviceUnavailable), share: 0.1) { $0.method == .get },
///     .init(.delay(.exponential(mean: .milliseconds(200)))),
/// ])
/// let client = HTTPClient(baseURL: "https://api.example.com") { Resilience.standard; chaos }
/// chaos.isEnabled = true
/// ```
///
/// It does nothing until it is enabled, which only code can do. Of its rules the first strikes that matches a request and whose lot is drawn. It
/// stands innermost, so that limits, breakers, hedges and retries take its faults for the server's; the trace tells which ones were injected.
///
/// The same seed lets the same of the requests that a rule is asked about go wrong, in the order in which they come, also where
/// exchanges overlap.
public final class Chaos: HTTPInterceptor {
    /// What goes wrong with which requests.
    public struct Rule: Sendable {
        let fault: Fault
        let share: Double
        let matches: @Sendable (HTTPRequest) -> Bool

        /// Makes a rule.
        ///
        /// - Parameters:
        ///   - fault: What goes wrong.
        ///   - share: With how many of the requests, from 0 to 1; all by default.
        ///   - matches: With which; all by default. Called in the request's task.
        public init(_ fault: Fault, share: Double = 1, where matches: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }) {
            self.fault = fault
            self.share = share
            self.matches = matches
        }
    }

    private struct Lot: Sendable {
        let rule: Rule
        let lots: SimulatedRandom
        /// Apart from the lots, since times are drawn later, in an order that is the machine's.
        let times: SimulatedRandom

        func strikes(_ request: HTTPRequest) -> Bool { rule.matches(request) && lots.share() < rule.share }
    }

    private let lots: [Lot]
    private let enabled: Locked<Bool>

    /// Makes one.
    ///
    /// - Parameters:
    ///   - seed: Of all that is random in it; 0 by default.
    ///   - rules: In the order in which they are asked.
    ///   - isEnabled: Whether they are; false by default.
    public init(seed: UInt64 = 0, rules: [Rule], isEnabled: Bool = false) {
        let random = SimulatedRandom(seed: seed)
        lots = rules.map { Lot(rule: $0, lots: random.split(), times: random.split()) }
        enabled = Locked(isEnabled)
    }

    /// Whether anything goes wrong. May be changed at any time; exchanges that have begun aren't affected.
    public var isEnabled: Bool {
        get { enabled.withLock { $0 } }
        set { enabled.withLock { $0 = newValue } }
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.innermost`
    public var rank: InterceptorRank { .innermost }

    /// Its waits end in time; it serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// Sends the request on, and lets that go wrong if a rule says so.
    ///
    /// - Throws: What the fault is; ``HTTPError/Code/timeout`` when it takes longer than the attempt may.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard isEnabled, let lot = lots.first(where: { $0.strikes(request) }) else { return try await next(request) }
        let fault = lot.rule.fault
        next.position.record({ .faultInjected(fault: fault.summary) }, about: request)
        let exchange = FaultedExchange(fault: fault, clock: next.clock, random: lot.times.split())
        var response = try await next.position.withinTimeLeft(phase: .maybeProcessed) { position in
            try await exchange.run(request) { try await next.at(position)(request) }
        }
        next.call?.opened(response.body)
        // Where it would be taken into memory further in, its end is met there.
        try await next.position.deliver(&response)
        return response
    }

    /// Says whether it is on.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard isEnabled else { return .known("off") }
        let rules = lots.map(\.rule).filter { $0.matches(request) }
        return rules.isEmpty
            ? .known("no rule for this request")
            : .unknown(
                "would inject: "
                    + rules.map { "\($0.fault.summary) (\(Int((min(max(0, $0.share), 1) * 100).rounded())) %)" }
                    .joined(separator: ", "))
    }
}

extension CallEvent {
    /// An exchange went wrong on purpose, in this way.
    fileprivate static func faultInjected(fault: String) -> CallEvent {
        CallEvent("chaos.injected", "injected: \(fault)", ["fault": .string(fault)])
    }
}
