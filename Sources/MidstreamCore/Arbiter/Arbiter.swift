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
        while true {
            try await keepPace(retries, next)
            let attempt = retries.attempt()
            let outcome = try await outcome(of: attempt, next)
            switch try await judge(outcome, of: attempt) {
            case .deliver(let response):
                return response
            case .fail(let error, let response):
                if (error as? HTTPError)?.response == nil { response?.body.close() }
                throw error
            case .retry(let strategy, let cause, let outcome, let others):
                try await prepare(&retries, strategy, after: outcome, of: attempt, because: cause, others, next)
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
            try await response.buffer(as: attempt.delivery)
            do {
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

    /// Waits while the origin is to be left alone.
    private func keepPace(_ retries: Retries, _ next: Next<HTTPRequest, HTTPResponse>) async throws {
        guard let pacing, let wait = pacing.wait(for: retries.original.urlText) else { return }
        guard retries.allowsWaiting(wait) else {
            throw HTTPError(
                .deadlineExceeded, "The server asks to wait for \(wait), which is longer than the call may take.",
                request: retries.original, progress: .notSent)
        }
        retries.original.note("waits \(wait), as the server has asked other calls to", by: next)
        try await configuration.clock.pause(for: wait)
    }

    /// Does what has to be done before the next attempt; throws when there will be none.
    private func prepare(
        _ retries: inout Retries, _ strategy: RetryStrategy, after outcome: Outcome, of attempt: HTTPRequest,
        because cause: any Error, _ others: [any HTTPValidator], _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws {
        try retries.check(strategy, after: outcome, because: cause)
        let asked = outcome.response?.retryAfter.map { min($0, configuration.maximumRetryAfter) }
        if let asked, let pacing { pacing.leaveAlone(attempt.urlText, for: asked) }
        let delay = retries.delay(strategy, atLeast: asked, for: attempt, random: configuration.random)
        guard retries.allowsWaiting(delay) else { throw cause }
        if strategy.isAutomatic, let ledger, !ledger.takeRetry() { throw retries.exhausted(cause, outcome, isBudget: true) }
        // What is given up must not hold its connection.
        outcome.response?.body.close()
        retries.count(strategy, delay: delay)
        retries.original.note(
            "attempt \(attempt.attempt): \(outcome.summary); again \(delay > .zero ? "in \(delay)" : "at once")", by: next)
        switch strategy.kind {
        case .delay, .custom: break
        case .after(let alternate, _, let then):
            let response = try await alternates.send(
                alternate, for: attempt, begunAt: retries.attemptStart, after: outcome, validators: others, next)
            try await then(&retries.original, response)
        case .afterTask(_, let work, let onError):
            do {
                try await work(&retries.original)
            } catch {
                if error is CancellationError || Task.isCancelled { throw CancellationError() }
                await onError?(error)
            }
        }
        if delay > .zero { try await configuration.clock.pause(for: delay) } else { try Task.checkCancellation() }
    }
}
