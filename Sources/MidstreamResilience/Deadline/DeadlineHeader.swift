public import Interception
public import MidstreamCore

/// Sends the server the time that is left for the response, so that it can drop requests that nobody waits for any more.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { DeadlineHeader(milliseconds: "X-Request-Timeout-Ms") }
/// ```
///
/// Each exchange carries the rest of the attempt's timeout or of the call's deadline, whichever ends first. A request without either
/// carries nothing, and one that has the field already keeps it. A streamed call, of which these cover the head alone, carries the rest of a
/// deadline that covers its body (``HTTPRequest/deadlineCoversBody``), or nothing: servers end an answer whose time is over.
public final class DeadlineHeader: HTTPInterceptor {
    /// The field, and the format of its value.
    struct Format: Sendable, Hashable {
        enum Kind: Sendable, Hashable { case milliseconds, seconds, grpc }
        let field: HTTPHeaders.Name
        let kind: Kind

        static func milliseconds(_ name: String) -> Format { Format(field: HTTPHeaders.Name(name), kind: .milliseconds) }
        static func seconds(_ name: String) -> Format { Format(field: HTTPHeaders.Name(name), kind: .seconds) }
        /// `grpc-timeout` (gRPC over HTTP/2, “Timeout”): at most eight digits and a unit.
        static let grpc = Format(field: HTTPHeaders.Name("grpc-timeout"), kind: .grpc)

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

    /// The response times of one key.
    private final class Times: ScopeState {
        /// The interval at which a request is sent although it seems hopeless, when no other is.
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

        /// The median response time, when it is longer than the time left; nil: the request may be sent.
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

    /// Sends whole milliseconds, rounded down.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - refusesHopeless: Whether a request with less time left than the origin's median response time in the last half minute to minute
    ///     (from 20 responses on) fails with ``HTTPError/Code/timeout`` before it is sent, and isn't retried; false by default. When no others
    ///     are sent, one a second is, to notice a server that has become faster.
    public convenience init(milliseconds name: String, refusesHopeless: Bool = false) {
        self.init(.milliseconds(name), refusesHopeless: refusesHopeless)
    }

    /// Sends whole seconds, rounded down; see ``init(milliseconds:refusesHopeless:)``.
    public convenience init(seconds name: String, refusesHopeless: Bool = false) {
        self.init(.seconds(name), refusesHopeless: refusesHopeless)
    }

    /// Sends `grpc-timeout` (gRPC over HTTP/2, “Timeout”): at most eight digits and a unit; see ``init(milliseconds:refusesHopeless:)``.
    public static func grpc(refusesHopeless: Bool = false) -> DeadlineHeader {
        DeadlineHeader(.grpc, refusesHopeless: refusesHopeless)
    }

    init(_ format: Format, refusesHopeless: Bool = false) {
        self.format = format
        table = refusesHopeless ? ScopeTable(.origin) { Times($0) } : nil
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.deadline`: inside waits for permits, whose time is gone then, and outside signatures, which cover the field.
    public var rank: InterceptorRank { .deadline }
    /// It waits for nothing, and serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// How long the whole answer may take; nil: for ever. The head of a streamed one is waited for no longer than its body lasts.
    private static func timeForAll(of request: HTTPRequest, _ left: Duration?, _ position: ChainPosition) -> Duration? {
        guard let call = position.call, call.delivery == .streamed else { return left }
        var all = position
        all.timeout = .max
        if !call.deadlineCoversBody(of: request) { all.deadline = .max }
        return all.timeLeft
    }

    /// Adds the field.
    ///
    /// - Throws: ``HTTPError/Code/timeout`` for a request that is hopeless.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        let left = next.timeLeft
        if let left = Self.timeForAll(of: request, left, next.position), !request.headers.contains(format.field) {
            request.headers[format.field] = format.value(left)
        }
        guard let table else { return try await next(request) }
        let start = table.time.now(next)
        let times = table.state(for: request, at: start)
        if let usual = times.refusal(of: left, at: start), let left {
            next.position.record({ .hopeless(key: times.key, left: left, usual: usual) }, about: request)
            throw HTTPError(
                .timeout, "\(left.brief) are left, and half of the answers of \(times.key) take longer than \(usual.brief).",
                request: request, phase: .notSent
            ).refusedHere.forNow
        }
        let response = try await next(request)
        let now = table.time.now(next)
        times.answered(after: now &- start, at: now)
        return response
    }

    /// The field that it would add.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .unknown("would add \(format.field.rawValue) with the time that is left")
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
