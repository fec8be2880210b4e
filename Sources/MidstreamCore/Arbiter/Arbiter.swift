package import Interception

/// Decides about attempts: runs one, asks the validators, and acts on their verdict. Nothing else in a pipeline repeats a request
/// because of its outcome, so everything that bounds retries (their number, the budget, the deadline) is here.
package final class Arbiter: HTTPInterceptor {
    let settings: ArbiterSettings
    /// The account of the client's budget for retries; nil when it has none.
    let ledger: RetryLedger?
    private let alternates = AlternateRequests()
    private let pacing: Pacing?
    /// The client's validators, when none of them has to be waited for; otherwise nil.
    let immediate: [DefaultValidator]?
    /// Whether validators or retry strategies may wait for anything.
    private let asksSomebody: Bool

    package init(_ settings: ArbiterSettings) {
        self.settings = settings
        let immediate = settings.validators.compactMap { $0 as? DefaultValidator }
        self.immediate = immediate.count == settings.validators.count ? immediate : nil
        asksSomebody =
            self.immediate == nil
            || immediate.contains { validator in
                validator.retriableStatus.values.contains(where: \.isAlternate)
                    || validator.retriableErrors.values.contains(where: \.isAlternate)
            }
        ledger = settings.retryBudget.map { RetryLedger($0, on: settings.clock) }
        pacing = settings.sharesRetryAfter ? Pacing(on: settings.clock) : nil
    }

    /// The type of one of the validators of a request.
    package func validatorName(_ number: Int, for request: HTTPRequest) -> String? {
        let validators = request.validators ?? settings.validators
        return validators.indices.contains(number) ? "\(type(of: validators[number]))" : nil
    }

    @inline(__always)
    package func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var position = next.position
        position.limit(deadline: request.deadline ?? settings.deadline)
        guard position.deadline != .max else { return try await attempts(of: request, next) }
        if position.isOver(position.deadline) { throw position.overdue(phase: .notSent) }
        let response =
            if waitsFreely(for: request) {
                try await interruptedAttempts(of: request, next, position)
            } else {
                try await attempts(of: request, next.at(position))
            }
        guard position.isOver(position.deadline) else { return response }
        // It came too late, from code that ignores cancellation.
        response.body.close()
        throw position.overdue(phase: .answered)
    }

    /// Whether code that isn't the library's is part of the arbiter's work for a request.
    private func waitsFreely(for request: HTTPRequest) -> Bool { asksSomebody || request.validators != nil }

    /// Apart, since a task of its own needs much that others shouldn't have to keep while they wait.
    @inline(never)
    private func interruptedAttempts(
        of request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>, _ position: ChainPosition
    ) async throws -> HTTPResponse {
        try await position.untilDeadline { position in
            try await ChainPosition.local.withValue(position) { try await self.attempts(of: request, next.at(position)) }
        }
    }

    nonisolated(nonsending)
        private func attempts(
            of request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse
    {
        var retries = Retries(of: request, next.position, settings)
        var isCounted = retries.maximum > 0
        if isCounted { ledger?.countCall() }
        var cause: (any Error)?
        do {
            while true {
                if let pacing { try await keep(pacing, retries, at: next.position, after: cause) }
                var branch = next.branch()
                branch.position.isInterrupted = next.position.isInterrupted
                branch.position.timeout = next.call?.due(in: retries.timeout) ?? .max
                let attempt = Attempt(request: retries.attempt(), answers: alternates.answers, next: branch)
                let outcome = try await outcome(of: attempt)
                if !isCounted, retries.areAllowed(by: outcome) {
                    isCounted = true
                    ledger?.countCall()
                }
                // Whatever is not the rule is apart from here, where all calls wait for their responses, so that they need little memory.
                if let response = accepted(outcome, of: attempt) { return response }
                if let response = try await settle(outcome, of: attempt, &retries, &cause, at: next.position) { return response }
            }
        } catch {
            throw retries.ofAllAttempts(error)
        }
    }

    /// Does what the validators want to be done about an outcome.
    ///
    /// - Parameter cause: Becomes what makes another attempt necessary.
    /// - Returns: The response to deliver; nil when another attempt is to be made.
    /// - Throws: What the call ends with.
    private func settle(
        _ outcome: Outcome, of attempt: Attempt, _ retries: inout Retries, _ cause: inout (any Error)?, at position: ChainPosition
    ) async throws -> HTTPResponse? {
        retries.adopt(limitsOf: outcome)
        var judgement = try await judge(outcome, of: attempt)
        while case .retry(let strategy, let outcome, let place) = judgement {
            // What the strategy does is the arbiter's, in the eyes of whoever leaves notes or sends something.
            let refusal = try await ChainPosition.local.withValue(position) {
                try await prepare(&retries, strategy, after: outcome, of: attempt, place)
            }
            guard let refusal else {
                cause = attempt.withoutBody(outcome.error)
                return nil
            }
            // Good enough when it can't be better.
            let isAcceptable = strategy.isPreference && outcome.response != nil
            judgement =
                isAcceptable ? try await judge(outcome, of: attempt, after: place) : .fail(refusal, outcome.response)
        }
        switch judgement {
        case .deliver(let response): return response
        case .retry: return nil
        case .fail(let error, let response):
            if (error as? HTTPError)?.response == nil { attempt.giveUp(response) }
            throw try await attempt.withBody(Self.telling(cause, error))
        }
    }

    /// The error of an attempt, with the answer to the one before where this client has refused to send it: that may be the reason, and it
    /// is the last that the server has said.
    private static func telling(_ cause: (any Error)?, _ error: any Error) -> any Error {
        guard let refusal = error as? HTTPError, refusal.code.isRefusal, !refusal.hasEndedCall, refusal.response == nil,
            let cause = cause as? HTTPError, !cause.hasEndedCall, let answer = cause.response
        else { return error }
        var told = refusal.withResponse(answer, shortfall: cause.bodyShortfall)
        told.phase = .answered
        return told
    }

    package func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let validators = request.validators ?? settings.validators
        guard !validators.isEmpty else { return .known("one attempt, since there are no validators to ask for more") }
        let maximum = Retries(of: request, ChainPosition(), settings).maximum
        let names = validators.map { "\(type(of: $0))" }.joined(separator: ", ")
        return .known("up to \(maximum == .max ? maximum : 1 + maximum) attempts; asks \(names)")
    }

    nonisolated(nonsending)
        private func outcome(of attempt: Attempt) async throws -> Outcome
    {
        do {
            var response = try await attempt.next(attempt.request)
            // Validators may read what is promised in memory, even where an interceptor answered with a stream.
            if response.body.bytes == nil { try await Self.take(&response, at: attempt.next.position) }
            // Whatever the validators make of it: the other calls are to know.
            if let pacing, let delay = asked(by: response) {
                pacing.leaveAlone(response.request.urlText, askedAs: attempt.request.urlText, for: delay)
            }
            return .response(response)
        } catch {
            // Neither a cancellation nor the deadline is subject to a verdict, whatever further in has made of it.
            let position = attempt.next.position
            if position.isOver(position.deadline), (error as? HTTPError)?.code == .deadlineExceeded { throw error }
            if let reason = position.reasonToEnd { throw reason }
            if error is CancellationError { throw error }
            return .failure(failure(error, of: attempt))
        }
    }

    /// Takes a body into memory.
    ///
    /// - Throws: Where that of a refusal can't be read, an error with the response, whose status may say more than the end of its body.
    @inline(never)
    nonisolated(nonsending)
        private static func take(_ response: inout HTTPResponse, at position: ChainPosition) async throws
    {
        do {
            try await position.deliver(&response)
        } catch let error as HTTPError {
            throw error.ofRefusal(response, response.status)
        }
    }

    /// The error of an attempt. What an interceptor has sent last may never have left, and what it had sent before may have been answered.
    private func failure(_ error: any Error, of attempt: Attempt) -> any Error {
        guard var failure = (error as? HTTPError)?.befalling(attempt.request) else { return error }
        let mayHaveActed = attempt.next.call?.mayHaveActed(in: attempt.request.attempt) == true
        if failure.phase == .notSent, mayHaveActed { failure.phase = .maybeProcessed }
        return failure
    }

    /// How long the server asks to wait, as far as that is honoured.
    func asked(by response: HTTPResponse?) -> Duration? {
        response?.retryAfter(at: settings.now).map { min($0, settings.maximumRetryAfter) }
    }

    /// Waits while the origin is to be left alone, after what the last attempt ended with; nil before the first.
    private func keep(
        _ pacing: Pacing, _ retries: Retries, at position: ChainPosition, after cause: (any Error)?
    ) async throws {
        while let wait = pacing.wait(for: retries.original.urlText) {
            guard retries.allowsWaiting(wait) else {
                position.record({ .pacing(wait: wait, isSent: false) }, about: retries.original)
                throw cause
                    ?? HTTPError(
                        .deadlineExceeded, "The server asks to wait for \(wait), which is longer than the call may take.",
                        request: retries.original, phase: .notSent)
            }
            position.record({ .pacing(wait: wait, isSent: true) }, about: retries.original)
            try await settings.clock.pause(for: wait)
        }
    }

    /// Does what has to be done before the next attempt.
    ///
    /// - Parameter place: That of the validator that has asked for it.
    /// - Returns: What the call ends with, when the next attempt is refused.
    /// - Throws: What the work before the next attempt throws.
    private func prepare(
        _ retries: inout Retries, _ strategy: RetryStrategy, after outcome: Outcome, of attempt: Attempt, _ place: Int
    ) async throws -> (any Error)? {
        let delay: Duration
        do { delay = try admit(&retries, strategy, after: outcome, of: attempt) } catch { return error }
        switch strategy.kind {
        case .delay, .custom: break
        case .after(let alternate, _, let then):
            var others = attempt.request.validators ?? settings.validators
            others.remove(at: place)
            let response = try await alternates.send(alternate, for: attempt, after: outcome, validators: others)
            try await retries.change { try await then(&$0, response) }
        case .afterTask(_, let work, let onError):
            do {
                try await retries.change(work)
            } catch {
                if Task.isCancelled { throw error }
                attempt.note("the work before attempt \(attempt.number + 1) failed: \(TraceRecorder.text(of: error))")
                await onError?(error)
            }
        }
        guard delay > .zero else {
            try Task.checkCancellation()
            return nil
        }
        // What came before it has taken its time, too.
        guard retries.allowsWaiting(delay) else {
            attempt.recordEnd("\(delay) would pass the deadline", after: outcome)
            throw attempt.withoutBody(outcome.error)
        }
        try await settings.clock.pause(for: delay)
        return nil
    }

    /// Counts the next attempt, and gives up what the last one has ended with. Apart, so that what it needs isn't kept while the next one is
    /// waited for.
    ///
    /// - Returns: How long to wait before the attempt.
    /// - Throws: What the call ends with, when the attempt is refused.
    @inline(never)
    private func admit(
        _ retries: inout Retries, _ strategy: RetryStrategy, after outcome: Outcome, of attempt: Attempt
    ) throws -> Duration {
        if let refusal = retries.refusal(of: strategy, after: outcome) {
            attempt.recordEnd(refusal.reason, after: outcome)
            throw refusal.error
        }
        let delay = retries.delay(
            strategy, atLeast: asked(by: outcome.answer), for: attempt.request, random: settings.random)
        // Its origin may be left alone for longer. What comes between may lead elsewhere.
        let quiet = strategy.isAlternate ? nil : pacing?.wait(for: retries.original.urlText)
        let wait = max(delay, quiet ?? .zero)
        guard retries.allowsWaiting(wait) else {
            attempt.recordEnd("\(wait) would pass the deadline", after: outcome)
            throw outcome.error
        }
        if strategy.isAutomatic, let ledger, !ledger.takeRetry(cost: outcome.retryCost) {
            attempt.recordEnd("the client's budget is used up", after: outcome)
            throw retries.exhausted(outcome, isBudget: true)
        }
        // What is given up must not hold its connection.
        attempt.giveUp(outcome.response)
        retries.count(outcome)
        attempt.record(
            .retry(
                attempt: attempt.number, outcome: outcome.summary, status: outcome.answer?.status.code, delay: delay))
        return delay
    }
}

/// One attempt: what is sent, how it goes on, and which alternates' answers are news to it.
struct Attempt: Sendable {
    let request: HTTPRequest
    let answers: AlternateAnswers
    let next: Next<HTTPRequest, HTTPResponse>

    /// 1 for the first.
    var number: Int { request.attempt }

    /// Leaves a note at the arbiter's place.
    func note(_ text: @autoclosure () -> String) { next.position.note(text, about: request) }

    /// Leaves an event at the arbiter's place.
    func record(_ event: @autoclosure () -> CallEvent) { next.position.record(event, about: request) }

    /// Leaves there why no other one follows.
    @inline(never)
    func recordEnd(_ reason: String, after outcome: Outcome) {
        record(.noRetry(attempt: number, outcome: outcome.summary, status: outcome.answer?.status.code, reason: reason))
    }

    /// Releases the connection of a response that nobody will read, and of whatever it was made from.
    func giveUp(_ response: HTTPResponse?) {
        response?.body.close()
        next.call?.giveUp()
    }
}
