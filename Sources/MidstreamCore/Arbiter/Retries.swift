internal import Interception

/// The account of one call's attempts: what has been sent, how often, and what is still allowed.
struct Retries {
    /// The request as the next attempt starts from it: as it entered the arbiter, or as an alternate has changed it.
    private(set) var original: HTTPRequest
    /// How many retries are allowed.
    private(set) var maximum: Int
    /// How long one attempt may take; nil: no limit.
    let timeout: Duration?
    /// On the call's stopwatch, as that of the position.
    private var deadline: Int64
    private let call: Call?
    private var made = 0
    /// Whether the server may have acted on the request in an earlier attempt.
    private var mayHaveActed = false
    /// Whether the last attempt brought an answer.
    private var followsAnswer = false
    private var previousDelay: Duration?

    init(of request: HTTPRequest, _ position: ChainPosition, _ settings: ArbiterSettings) {
        original = request
        call = position.call
        deadline = position.deadline
        // What is behind `??` is a closure, which would copy all the settings.
        let usual = (settings.maxRetries, settings.timeout)
        if original.hasLateLimits {
            position.noteDeadline(of: original)
            original.markLimitsKept()
        }
        let own = request.limits
        maximum = max(0, own.maxRetries ?? usual.0)
        timeout = own.timeout ?? usual.1
    }

    /// Whether interceptors behind the arbiter have allowed retries in an attempt.
    @inline(never)
    func areAllowed(by outcome: Outcome) -> Bool { limits(of: outcome)?.maxRetries ?? 0 > 0 }

    /// Those of the request as it was when the attempt ended. Another call's are its own, also where an interceptor has made it of the same
    /// request.
    private func limits(of outcome: Outcome) -> RequestLimits? {
        guard !outcome.isOfEndedCall, let last = outcome.request, last.id == original.id else { return nil }
        return last.limits
    }

    /// Takes over what interceptors behind the arbiter have set in the last attempt.
    mutating func adopt(limitsOf outcome: Outcome) {
        guard let limits = limits(of: outcome) else { return }
        if limits.maxRetries != original.limits.maxRetries, let most = limits.maxRetries { maximum = max(0, most) }
        if limits.deadline != original.limits.deadline, let due = limits.deadline {
            deadline = min(due.wholeNanoseconds, deadline)
        }
    }

    /// The request of the next attempt.
    func attempt() -> HTTPRequest {
        var attempt = original
        attempt.attempt = made + 1
        if followsAnswer { attempt.isAskedAgain = true }
        return attempt
    }

    /// Why the strategy may not be followed, and what the call ends with instead; nil when it may.
    func refusal(of strategy: RetryStrategy, after outcome: Outcome) -> (reason: String, error: any Error)? {
        guard call?.sharing == nil || !strategy.isAlternate else {
            return ("it is sent on behalf of another request already", outcome.error)
        }
        // An alternate is worth one resend even where no retries are allowed, or it would be of no use by default.
        let isGranted = strategy.isAlternate && maximum == 0 && made == 0
        guard made < maximum || isGranted else {
            guard maximum > 0 else { return ("no retries are allowed", outcome.error) }
            return ("no retries are left", exhausted(outcome, isBudget: false))
        }
        guard mayBeResent(after: outcome, strategy) else {
            return ("the server may have acted on the \(original.method)", outcome.error)
        }
        guard original.body.isSpent else { return nil }
        let error = HTTPError(
            .bodyNotReplayable, "The request was to be sent again, and its body can be read only once.", request: original,
            response: outcome.response, underlying: outcome.error, phase: outcome.phase)
        return ("its body can be read only once", error)
    }

    /// Whether sending the request a second time can do no harm, or the user has taken the decision (RFC 9110 §9.2.2).
    private func mayBeResent(after outcome: Outcome, _ strategy: RetryStrategy) -> Bool {
        switch outcome {
        case .response where !strategy.isAutomatic: return true
        case .failure(let error as HTTPError) where error.phase == .notSent: return true
        default:
            // By redirects it may have become one that may not, or led to one.
            guard let last = outcome.request, last.id == original.id else { return original.isRepeatable }
            return original.isRepeatable && !last.followsUnrepeatable
        }
    }

    /// The delay before the next attempt.
    ///
    /// - Parameter asked: What the server asks for.
    mutating func delay(
        _ strategy: RetryStrategy, atLeast asked: Duration?, for attempt: HTTPRequest, random: () -> Double
    ) -> Duration {
        let delay = strategy.delay(beforeRetry: made + 1, previous: previousDelay, of: attempt, random: random)
        if case .delay = strategy.kind { previousDelay = delay }
        return strategy.delay(delay, atLeast: asked)
    }

    /// Whether a wait would end before the call's deadline, or the latest of those who share the call.
    func allowsWaiting(_ delay: Duration) -> Bool {
        guard let call else { return true }
        let wait = min(delay, .longest).wholeNanoseconds
        if let latest = call.sharedUntil?(), call.owner.stopwatch.elapsedNanoseconds &+ wait >= latest { return false }
        return deadline == .max || call.stopwatch.elapsedNanoseconds &+ wait < deadline
    }

    /// Counts the next attempt, which follows an outcome.
    mutating func count(_ outcome: Outcome) {
        made += 1
        followsAnswer = outcome.response != nil
        let asksWho = outcome.response.map { $0.status == .unauthorized || $0.status == .proxyAuthenticationRequired } ?? false
        if outcome.phase != .notSent, !asksWho { mayHaveActed = true }
    }

    /// What the call ends with: an error of the last attempt tells how far that one came, and an earlier one may have come further.
    func ofAllAttempts(_ error: any Error) -> any Error {
        guard mayHaveActed, var error = error as? HTTPError, error.phase == .notSent else { return error }
        error.phase = .maybeProcessed
        return error
    }

    /// Lets somebody change the request, or put another one in its place, which then is part of the same call.
    ///
    /// - Throws: What the change throws, which then isn't made; `CancellationError` when the task has been cancelled meanwhile.
    mutating func change(_ change: @Sendable (inout HTTPRequest) async throws -> Void) async throws {
        var request = original
        do {
            try await change(&request)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw error
        }
        original = request.takingPlace(of: original)
    }

    func exhausted(_ outcome: Outcome, isBudget: Bool) -> HTTPError {
        let last = outcome.summary.hasSuffix(".") ? outcome.summary : outcome.summary + "."
        return HTTPError(
            .retriesExhausted,
            (isBudget ? "The client's budget for retries is used up" : "All \(made + 1) attempts failed") + "; last: \(last)",
            request: original, response: outcome.response ?? (outcome.error as? HTTPError)?.response,
            underlying: outcome.error, phase: outcome.phase)
    }
}
