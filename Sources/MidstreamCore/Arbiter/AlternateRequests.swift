internal import Interception

/// Sends the alternate requests of a client's calls: once for all that ask for the same one because of the same failure.
final class AlternateRequests: Sendable {
    /// Alternates that ask for the same thing.
    private struct Key: Hashable {
        let method: HTTPMethod
        let urlText: String
        let headers: HTTPHeaders
        let bytes: [UInt8]?
        let body: BodyIdentity?

        init(_ request: HTTPRequest) {
            method = request.method
            urlText = request.urlText
            headers = request.headers
            bytes = request.body.bytes
            body = bytes == nil ? BodyIdentity(request.body) : nil
        }
    }

    /// The answer to an alternate. A failure isn't kept: it is for those who wait for it.
    private struct Answer: Sendable {
        let time: UInt64
        var response: HTTPResponse
    }

    private static let maximumAnswers = 16

    private let flights = SingleFlight<Key, Answer>()
    /// The latest answer to each alternate, oldest first.
    private let answers = Locked<[(key: Key, answer: Answer)]>([])

    /// Sends an alternate request on behalf of a failed attempt, or shares the answer that another call got.
    ///
    /// - Parameters:
    ///   - start: When the attempt began, in nanoseconds of the monotonic clock. An answer that came later is news to it.
    ///   - validators: Those of the attempt without the one that asked for the alternate, which would ask for it again.
    /// - Throws: `CancellationError`, or an error that carries the failure of the attempt and that of the alternate.
    func send(
        _ alternate: HTTPRequest, for attempt: HTTPRequest, begunAt start: UInt64, after outcome: Outcome,
        validators: [any HTTPValidator]
    ) async throws -> HTTPResponse {
        guard let client = attempt.call?.client else { throw CancellationError() }
        let key = Key(alternate)
        let request = prepared(alternate, validators)
        do {
            if let answer = kept(key, since: start) {
                attempt.note("alternate \(alternate): \(answer.response.status), shared with another call")
                return answer.response
            }
            var answer: Answer
            // Who joins a flight may get an answer that is news only to the one who started it.
            repeat {
                answer = try await flights.run(key) { [self] in
                    // The flight before this one may have ended after the look above.
                    if let answer = kept(key, since: start) { return answer }
                    let response = try await client.sendAlternate(request)
                    let answer = Answer(time: monotonicNanoseconds(), response: response)
                    keep(answer, to: key)
                    return answer
                }
            } while answer.time <= start
            attempt.note("alternate \(alternate): \(answer.response.status)")
            return answer.response
        } catch {
            if Task.isCancelled { throw CancellationError() }
            attempt.note("alternate \(alternate) failed: \(TraceRecorder.text(of: error))")
            throw Self.failure(of: attempt, outcome, error)
        }
    }

    private func prepared(_ alternate: HTTPRequest, _ validators: [any HTTPValidator]) -> HTTPRequest {
        guard alternate.validators == nil else { return alternate }
        var alternate = alternate
        // Somebody has to see that the alternate was refused, or its answer would be taken for a good one.
        let seesStatus = validators.contains { $0 is DefaultValidator }
        alternate.validators = seesStatus ? validators : validators + [DefaultValidator()]
        return alternate
    }

    private func kept(_ key: Key, since start: UInt64) -> Answer? {
        answers.withLock { answers in answers.last { $0.key == key && $0.answer.time > start }?.answer }
    }

    private func keep(_ answer: Answer, to key: Key) {
        var answer = answer
        // The call holds the client, which holds this.
        answer.response.request.call = nil
        answers.withLock { answers in
            answers.removeAll { $0.key == key }
            answers.append((key, answer))
            if answers.count > Self.maximumAnswers { answers.removeFirst() }
        }
    }

    private static func failure(of attempt: HTTPRequest, _ outcome: Outcome, _ error: any Error) -> HTTPError {
        let status = outcome.response?.status
        let isAuthentication = status == .unauthorized || status == .forbidden || status == .proxyAuthenticationRequired
        return HTTPError(
            isAuthentication ? .authentication : .validation,
            "After \(outcome.summary) another request was sent, which failed: \(TraceRecorder.text(of: error)).",
            request: attempt, response: outcome.response, underlying: error, progress: outcome.progress)
    }
}
