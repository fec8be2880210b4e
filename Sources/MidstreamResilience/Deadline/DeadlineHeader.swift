public import Interception
public import MidstreamCore

/// Tells the server how much time there is for an answer, so that it needn't work on what nobody waits for any more.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { DeadlineHeader(.milliseconds("X-Request-Timeout-Ms")) }
/// ```
///
/// Each exchange carries what is left of the attempt's timeout or the call's deadline, whichever ends first. A request without either
/// carries nothing, and one that has the field already keeps it.
public final class DeadlineHeader: HTTPInterceptor {
    /// Which field, and how it says a time.
    public struct Format: Sendable, Hashable {
        enum Kind: Sendable, Hashable { case milliseconds, seconds, grpc }
        let name: String
        let field: HTTPHeaders.Name
        let kind: Kind

        private init(name: String, kind: Kind) {
            (self.name, field, self.kind) = (name, HTTPHeaders.Name(name), kind)
        }

        /// Whole milliseconds, rounded down.
        public static func milliseconds(_ name: String) -> Format { Format(name: name, kind: .milliseconds) }
        /// Whole seconds, rounded down.
        public static func seconds(_ name: String) -> Format { Format(name: name, kind: .seconds) }
        /// `grpc-timeout` (gRPC over HTTP/2, “Timeout”): at most eight digits and a unit.
        public static let grpc = Format(name: "grpc-timeout", kind: .grpc)

        func value(_ left: Duration) -> String {
            let nanoseconds = max(0, left.wholeNanoseconds)
            switch kind {
            case .milliseconds: return "\(nanoseconds / 1_000_000)"
            case .seconds: return "\(nanoseconds / 1_000_000_000)"
            case .grpc:
                for (unit, length) in [("n", 1), ("u", 1_000), ("m", 1_000_000), ("S", 1_000_000_000)] as [(String, Int64)]
                where nanoseconds / length < 100_000_000 {
                    return "\(nanoseconds / length)\(unit)"
                }
                return "\(nanoseconds / 3_600_000_000_000)H"
            }
        }
    }

    /// The times of the answers of one key.
    private final class Times: ScopeState {
        /// How often a request is sent that seems hopeless, when no other is.
        private static let interval: Int64 = 1_000_000_000

        private struct State {
            var usual = RunningQuantile(0.5, from: 20)
            var lastSent: Int64?
        }

        let key: String
        private let state = Locked(State())
        init(_ key: String) { self.key = key }

        func isIdle(at now: Int64) -> Bool { true }

        func answered(after time: Int64, at now: Int64) { state.withLock { $0.usual.record(time, at: now) } }

        /// How long half of the answers take, when that is longer than a request has; nil: it may be sent.
        func refusal(of left: Duration?, at now: Int64) -> Duration? {
            state.withLock { state in
                let isProbe = state.lastSent.map { now &- $0 >= Self.interval } ?? true
                if let left, !isProbe, let usual = state.usual.value(at: now), left < .nanoseconds(usual) {
                    return .nanoseconds(usual)
                }
                state.lastSent = now
                return nil
            }
        }
    }

    private let format: Format
    private let table: ScopeTable<Times>?

    /// Makes one.
    ///
    /// - Parameters:
    ///   - format: The field.
    ///   - refusesHopeless: Whether a request isn't sent that has less time left than half of the origin's answers took in the last half
    ///     minute to minute (from 20 answers on); false by default. It then fails with ``HTTPError/Code/timeout`` before anything is
    ///     sent. Where no others are sent one a second is, to see whether the server has become faster.
    public init(_ format: Format, refusesHopeless: Bool = false) {
        self.format = format
        table = refusesHopeless ? ScopeTable(.origin) { Times($0) } : nil
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.deadline`, so that a signature covers the field and what has waited for a permit carries what is left then.
    public var rank: InterceptorRank { .deadline }
    /// It waits for nothing, and serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// Adds the field.
    ///
    /// - Throws: ``HTTPError/Code/timeout`` for a request that is hopeless.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        let left = next.timeLeft
        add(left, to: &request)
        guard let table else { return try await next(request) }
        let start = table.time.now(next)
        let times = table.state(for: request, at: start)
        if let usual = times.refusal(of: left, at: start), let left {
            next.position.record({ .hopeless(key: times.key, left: left, usual: usual) }, about: request)
            throw HTTPError(
                .timeout, "\(left.brief) are left, and half of the answers of \(times.key) take longer than \(usual.brief).",
                request: request, phase: .notSent
            ).refusedHere
        }
        let response = try await next(request)
        let now = table.time.now(next)
        times.answered(after: now &- start, at: now)
        return response
    }

    /// Says what it would add.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .unknown("would add \(format.name) with the time that is left")
    }

    private func add(_ left: Duration?, to request: inout HTTPRequest) {
        guard let left else { return }
        if !request.headers.contains(format.field) { request.headers[format.field] = format.value(left) }
    }
}

extension CallEvent {
    /// A request wasn't sent, since it would hardly have been answered in time: half of the answers take longer than `usual`.
    fileprivate static func hopeless(key: String, left: Duration, usual: Duration) -> CallEvent {
        CallEvent(
            "deadline.hopeless", "not sent: \(left.brief) are left, and \(key) usually takes \(usual.brief)",
            ["key": .string(key), "left": .seconds(left), "usual": .seconds(usual)])
    }
}
