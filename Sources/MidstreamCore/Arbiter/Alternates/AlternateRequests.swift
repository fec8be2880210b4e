internal import Interception

/// Sends the alternate requests of a client's calls. Where several calls fail at the same time and their alternates turn out to be
/// the same on the wire, one exchange serves them all.
final class AlternateRequests: Sendable {
    private let flights = SingleFlight<WireRequest, AlternateAnswer>(cancelsAbandoned: true)
    private let latest = Locked(AlternateAnswers(number: 0))

    /// The answers from here on; what begins now holds them, so that it finds those that came in the meantime.
    var answers: AlternateAnswers { latest.withLock { $0 } }

    /// Sends an alternate request on behalf of a failed attempt.
    ///
    /// - Parameter validators: Those of the attempt without the one that asked for the alternate, which would ask for it again.
    /// - Throws: `CancellationError`, ``HTTPError/Code/deadlineExceeded`` when the call's time is over, or an error that carries the failure
    ///   of the attempt and that of the alternate.
    func send(
        _ alternate: HTTPRequest, for attempt: Attempt, after outcome: Outcome, validators: [any HTTPValidator]
    ) async throws -> HTTPResponse {
        guard let call = attempt.next.call else { throw CancellationError() }
        let shared = Sharing(alternates: self, answers: attempt.answers, call: call)
        do {
            let response = try await call.owner.sendAlternate(prepared(alternate, validators), of: call, sharing: shared)
            attempt.record(
                .alternate(
                    request: alternate.description, outcome: "\(response.status)", status: response.status.code,
                    isShared: shared.wasShared))
            return response
        } catch {
            if let reason = attempt.next.position.reasonToEnd { throw reason }
            attempt.record(
                .alternate(
                    request: alternate.description, outcome: TraceRecorder.text(of: error), status: nil,
                    isShared: shared.wasShared))
            throw attempt.withoutBody(Self.failure(of: attempt.request, outcome, error))
        }
    }

    private func prepared(_ alternate: HTTPRequest, _ validators: [any HTTPValidator]) -> HTTPRequest {
        var alternate = alternate
        alternate.needsServersAnswer = true
        guard alternate.validators == nil else { return alternate }
        // Somebody has to see that the alternate was refused, or its answer would be taken for a good one.
        let seesStatus = validators.contains { $0 is DefaultValidator }
        alternate.validators = seesStatus ? validators : validators + [DefaultValidator()]
        return alternate
    }

    private static func failure(of attempt: HTTPRequest, _ outcome: Outcome, _ error: any Error) -> HTTPError {
        let status = outcome.response?.status
        let isAuthentication = status == .unauthorized || status == .forbidden || status == .proxyAuthenticationRequired
        return HTTPError(
            isAuthentication ? .authentication : .validation,
            "After \(outcome.summary) another request was sent, which failed: \(TraceRecorder.text(of: error)).",
            request: attempt, response: outcome.response, underlying: error, phase: outcome.phase)
    }

    /// The answer to a request as it goes on the wire, and whether it is another call's.
    fileprivate func answer(
        to request: WireRequest, newTo answers: AlternateAnswers, _ deliver: @escaping @Sendable () async throws -> HTTPResponse
    ) async throws -> (answer: AlternateAnswer, isShared: Bool) {
        if let answer = answers.latest(to: request) { return (answer, true) }
        let isOwn = Locked(false)
        var asksAgain = true
        while true {
            let answer: AlternateAnswer
            do {
                answer = try await flights.run(request) { [self] in
                    // The flight before this one may have ended after the look above.
                    if let answer = answers.latest(to: request) { return answer }
                    isOwn.withLock { $0 = true }
                    return keep(try await deliver(), to: request)
                }
            } catch let error as HTTPError where error.code == .timeout && asksAgain && !isOwn.withLock({ $0 }) {
                // It had begun before this call came, which has time left.
                asksAgain = false
                continue
            }
            // Who joins a flight may get an answer that is news only to the one who started it.
            if answer.number >= answers.number { return (answer, !isOwn.withLock { $0 }) }
        }
    }

    private func keep(_ response: HTTPResponse, to request: WireRequest) -> AlternateAnswer {
        latest.withLock { latest in
            // A failure is for those who wait for it.
            guard HTTPStatusSet.successAndRedirect.contains(response.status) else {
                return AlternateAnswer(response: response, number: latest.number, next: latest)
            }
            let answer = latest.end(with: response, to: request)
            latest = answer.next
            return answer
        }
    }
}

/// A request as it goes on the wire, with everything that the pipeline has made of it, credentials included, but for its place in a
/// distributed trace: who would send the same may have the same answer.
struct WireRequest: Hashable, Sendable {
    private let method: HTTPMethod
    private let urlText: String
    private let headers: HTTPHeaders
    private let bytes: [UInt8]
    /// Another server may answer the same with something else.
    private let address: String?

    /// Nil when nobody can tell what the body is.
    init?(_ request: HTTPRequest) {
        guard let bytes = request.body.bytes else { return nil }
        method = request.method
        urlText = request.urlText
        var headers = request.headers
        headers.removeAll { HTTPHeaders.tracing.contains($0) }
        self.headers = headers
        self.bytes = bytes
        address = request.address
    }
}

/// The exchanges of the alternate that is sent for one failed attempt.
private final class Sharing: ExchangeSharing {
    private let alternates: AlternateRequests
    private let answers: AlternateAnswers
    let call: Call
    private let shared = Locked(false)
    /// What is news to a request that has had an answer: whoever asks again wants another one.
    private let asked = Locked<[WireRequest: AlternateAnswers]>([:])

    init(alternates: AlternateRequests, answers: AlternateAnswers, call: Call) {
        self.alternates = alternates
        self.answers = answers
        self.call = call
    }

    var wasShared: Bool { shared.withLock { $0 } }

    func response(
        to request: HTTPRequest, _ deliver: @escaping @Sendable () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        guard let wire = WireRequest(request) else { return try await deliver() }
        let news = asked.withLock { $0[wire] } ?? answers
        let (answer, isShared) = try await alternates.answer(to: wire, newTo: news, deliver)
        asked.withLock { $0[wire] = answer.next }
        guard isShared else { return answer.response }
        shared.withLock { $0 = true }
        var response = answer.response
        response.request = request
        return response
    }
}
