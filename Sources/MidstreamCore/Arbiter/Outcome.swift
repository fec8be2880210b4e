internal import Interception

/// What an attempt brought.
enum Outcome: Sendable {
    case response(HTTPResponse)
    case failure(any Error)

    var response: HTTPResponse? {
        if case .response(let response) = self { response } else { nil }
    }

    /// The response, or the one that the failure has.
    var answer: HTTPResponse? { response ?? failure?.response }

    private var failure: HTTPError? {
        if case .failure(let error as HTTPError) = self { error } else { nil }
    }

    /// The request as it went on the wire, as far as that is known.
    var request: HTTPRequest? { response?.request ?? failure?.request }

    /// Whether it is what another call has ended with, which an interceptor has made.
    var isOfEndedCall: Bool { response?.hasEndedCall ?? failure?.hasEndedCall ?? false }

    /// How far the request had come, if that is known.
    var phase: HTTPError.Phase? { response == nil ? failure?.phase : .answered }

    /// What a retry after it takes from the budget.
    var retryCost: Int {
        guard let status = answer?.status else { return 2 }
        return status == .tooManyRequests || status == .serviceUnavailable ? 1 : 2
    }

    /// The outcome in a few words, without secrets.
    var summary: String {
        switch self {
        case .response(let response): "\(response.status)"
        case .failure(let error): TraceRecorder.text(of: error)
        }
    }
}

/// What is to be done about an outcome.
enum Judgement: Sendable {
    case deliver(HTTPResponse)
    /// The error, and the response that it gives up.
    case fail(any Error, HTTPResponse?)
    /// The strategy, the outcome as the validators left it, and the place of the validator that asked.
    case retry(RetryStrategy, Outcome, place: Int)
}

extension Arbiter {
    /// The response, when the validators find nothing wrong with it and there is no need to wait for any of them.
    func accepted(_ outcome: Outcome, of attempt: Attempt) -> HTTPResponse? {
        guard case .response(let response) = outcome, let immediate, attempt.request.validators == nil else { return nil }
        return immediate.allSatisfy { $0.accepts(response, to: attempt.request) } ? response : nil
    }

    /// Asks the validators in order. The first verdict that isn't `next` or `nextWith` decides.
    ///
    /// - Parameter last: The place of the validator after which to begin; -1: with the first.
    nonisolated(nonsending)
        func judge(_ outcome: Outcome, of attempt: Attempt, after last: Int = -1) async throws -> Judgement
    {
        var outcome = outcome
        let validators = attempt.request.validators ?? settings.validators
        for place in (last + 1)..<max(last + 1, validators.count) {
            let verdict: HTTPVerdict
            do {
                verdict = try await asked(validators[place], place, about: outcome, of: attempt)
                    .delivered(at: attempt.next.position)
            } catch {
                if error is CancellationError || Task.isCancelled {
                    attempt.giveUp(outcome.response)
                    throw CancellationError()
                }
                return .fail(error, outcome.response)
            }
            switch verdict {
            case .next: continue
            case .nextWith(let other):
                // One that is in memory doesn't read the other any more.
                if other.body.bytes != nil { outcome.response?.body.close() }
                outcome = .response(other)
            case .fail(let error): return .fail(error, outcome.response)
            case .retry(let strategy):
                return .retry(strategy, outcome, place: place)
            }
        }
        switch outcome {
        case .response(let response): return .deliver(response)
        case .failure(let error): return .fail(error, nil)
        }
    }

    /// Asks a validator, and has its notes put down to it, if anybody writes them down.
    private func asked(
        _ validator: any HTTPValidator, _ place: Int, about outcome: Outcome, of attempt: Attempt
    ) async throws -> HTTPVerdict {
        let ask = {
            switch outcome {
            case .response(let response): try await validator.validate(response, for: attempt.request)
            case .failure(let error): try await validator.validate(error, for: attempt.request)
            }
        }
        var position = attempt.next.position
        guard position.call?.recorder != nil else { return try await ask() }
        position.speaker = Int16(clamping: place)
        return try await ChainPosition.local.withValue(position) { try await ask() }
    }
}

extension HTTPVerdict {
    /// The verdict with its response in memory, if that is how the call wants it: the validators behind may read it. It is no part of the
    /// attempt, whose time may be over.
    fileprivate func delivered(at position: ChainPosition) async throws -> HTTPVerdict {
        guard case .nextWith(var response) = self, response.body.bytes == nil else { return self }
        var position = position
        position.timeout = .max
        try await position.deliver(&response)
        return .nextWith(response)
    }
}

extension Outcome {
    /// The error that a call ends with when this outcome is its last.
    var error: any Error {
        switch self {
        case .failure(let error as HTTPError) where error.bodyShortfall != nil && !error.hasEndedCall:
            guard let refusal = error.response,
                !(refusal.request.acceptableStatus ?? .successAndRedirect).contains(refusal.status)
            else { return error }
            return HTTPError.unacceptableStatus(refusal)
        case .failure(let error): return error
        case .response(let response):
            guard HTTPStatusSet.successAndRedirect.contains(response.status) else {
                return HTTPError.unacceptableStatus(response)
            }
            return HTTPError(
                .validation, "A validator asked for a retry of a response with \(response.status), and none was left.",
                request: response.request, response: response)
        }
    }
}
