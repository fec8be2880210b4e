internal import Interception

/// Decides about attempts: runs one, asks the validators, and acts on their verdict. Nothing else in a pipeline repeats a request
/// because of its outcome, so everything that bounds retries (their number, the budget, the deadline) is here.
final class Arbiter: HTTPInterceptor {
    let configuration: HTTPClient.Configuration
    let ledger: RetryLedger?
    let alternates = AlternateRequests()
    private let pacing: Pacing?

    init(_ configuration: HTTPClient.Configuration) {
        self.configuration = configuration
        ledger = configuration.retryBudget.map { RetryLedger($0) }
        pacing = configuration.sharesRetryAfter ? Pacing(on: configuration.clock) : nil
    }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var retries = Retries(of: request, configuration)
        if retries.maximum > 0 { ledger?.countCall() }
        var lastCause: (any Error)?
        while true {
            try await keepPace(retries, after: lastCause)
            let attempt = retries.attempt()
            let outcome = try await outcome(of: attempt, next)
            switch try await judge(outcome, of: attempt) {
            case .deliver(let response):
                return response
            case .fail(let error, let response):
                if (error as? HTTPError)?.response == nil { attempt.giveUp(response) }
                throw error
            case .retry(let strategy, let cause, let outcome, let others):
                try await prepare(&retries, strategy, after: outcome, of: attempt, because: cause, others)
                lastCause = cause
            }
        }
    }

    func plan(_ request: inout HTTPRequest) async throws -> String? {
        let validators = request.validators ?? configuration.validators
        let names = validators.isEmpty ? "no validators" : validators.map { "\(type(of: $0))" }.joined(separator: ", ")
        return "up to \(1 + Retries(of: request, configuration).maximum) attempts; asks \(names)"
    }

    private func outcome(of attempt: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>) async throws -> Outcome {
        do {
            var response = try await next(attempt)
            // Validators may read what send() promises in memory, even where an interceptor answered with a stream.
            try await response.buffer(as: attempt.call?.delivery ?? .streamed)
            do {
                // Whatever the validators make of it: the other calls are to know.
                if let pacing, let asked = asked(by: response) { pacing.leaveAlone(response.request.urlText, for: asked) }
                for transformer in configuration.transformers { try await transformer.intercept(response: &response) }
            } catch {
                response.body.close()
                throw error
            }
            return .response(response)
        } catch {
            // Cancellation is nobody's verdict, whatever further in has made of it.
            if error is CancellationError { throw error }
            if Task.isCancelled { throw CancellationError() }
            return .failure(error)
        }
    }

    /// How long the server asks to wait, as far as that is honoured.
    private func asked(by response: HTTPResponse?) -> Duration? {
        response?.retryAfter.map { min($0, configuration.maximumRetryAfter) }
    }

    /// Waits while the origin is to be left alone.
    ///
    /// - Parameter cause: What the last attempt ended with; nil before the first.
    private func keepPace(_ retries: Retries, after cause: (any Error)?) async throws {
        guard let pacing else { return }
        while let wait = pacing.wait(for: retries.original.urlText) {
            guard retries.allowsWaiting(wait) else {
                retries.original.note("not sent: the origin is to be left alone for \(wait), past the deadline")
                throw cause
                    ?? HTTPError(
                        .deadlineExceeded, "The server asks to wait for \(wait), which is longer than the call may take.",
                        request: retries.original, progress: .notSent)
            }
            retries.original.note("waits \(wait), as the server has asked other calls to")
            try await configuration.clock.pause(for: wait)
        }
    }

    /// Does what has to be done before the next attempt; throws when there will be none.
    private func prepare(
        _ retries: inout Retries, _ strategy: RetryStrategy, after outcome: Outcome, of attempt: HTTPRequest,
        because cause: any Error, _ others: [any HTTPValidator]
    ) async throws {
        func end(_ reason: String, _ error: any Error) -> any Error {
            attempt.note("attempt \(attempt.attempt): \(outcome.summary); not again: \(reason)")
            return error
        }
        if let refusal = retries.refusal(of: strategy, after: outcome, because: cause) {
            throw end(refusal.reason, refusal.error)
        }
        let delay = retries.delay(
            strategy, atLeast: asked(by: outcome.response), for: attempt, random: configuration.random)
        guard retries.allowsWaiting(delay) else { throw end("\(delay) would pass the deadline", cause) }
        if strategy.isAutomatic, let ledger, !ledger.takeRetry() {
            throw end("the client's budget is used up", retries.exhausted(cause, outcome, isBudget: true))
        }
        // What is given up must not hold its connection.
        attempt.giveUp(outcome.response)
        retries.count()
        attempt.note(
            "attempt \(attempt.attempt): \(outcome.summary); again \(delay > .zero ? "in \(delay)" : "at once")")
        switch strategy.kind {
        case .delay, .custom: break
        case .after(let alternate, _, let then):
            let response = try await alternates.send(
                alternate, for: attempt, begunAt: retries.attemptStart, after: outcome, validators: others)
            try await retries.change { try await then(&$0, response) }
        case .afterTask(_, let work, let onError):
            do {
                try await retries.change(work)
            } catch {
                if error is CancellationError { throw error }
                attempt.note("the work before attempt \(attempt.attempt + 1) failed: \(TraceRecorder.text(of: error))")
                await onError?(error)
            }
        }
        guard delay > .zero else { return try Task.checkCancellation() }
        // What came before it has taken its time, too.
        guard retries.allowsWaiting(delay) else { throw end("\(delay) would pass the deadline", cause) }
        try await configuration.clock.pause(for: delay)
    }
}

extension HTTPRequest {
    /// Releases the connection of a response of this call that nobody will read, and of whatever it was made from.
    func giveUp(_ response: HTTPResponse?) {
        response?.body.close()
        call?.closeOpenBodies()
    }
}
