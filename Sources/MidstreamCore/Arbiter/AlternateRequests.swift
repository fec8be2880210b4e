internal import Interception

/// Sends the alternate requests of a client's calls.
final class AlternateRequests: Sendable {
    /// Sends an alternate request on behalf of a failed attempt.
    ///
    /// - Parameter validators: Those of the attempt without the one that asked for the alternate, which would ask for it again.
    /// - Throws: `CancellationError`, or an error that carries the failure of the attempt and that of the alternate.
    func send(
        _ alternate: HTTPRequest, for attempt: HTTPRequest, after outcome: Outcome, validators: [any HTTPValidator],
        _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        guard let call = attempt.call else { throw CancellationError() }
        var alternate = alternate
        if alternate.validators == nil {
            // Somebody has to see that the alternate was refused, or its answer would be taken for a good one.
            let seesStatus = validators.contains { $0 is DefaultValidator }
            alternate.validators = seesStatus ? validators : validators + [DefaultValidator()]
        }
        do {
            let response = try await call.client.sendAlternate(alternate)
            attempt.note("alternate \(alternate): \(response.status)", by: next)
            return response
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            attempt.note("alternate \(alternate) failed: \(TraceRecorder.text(of: error))", by: next)
            throw Self.failure(of: attempt, outcome, error)
        }
    }

    private static func failure(of attempt: HTTPRequest, _ outcome: Outcome, _ error: any Error) -> HTTPError {
        let status = outcome.response?.status
        let isAuthentication = status == .unauthorized || status == .forbidden || status == .proxyAuthenticationRequired
        return HTTPError(
            isAuthentication ? .authentication : .validation,
            "After \(outcome.summary) another request was sent, which failed: \(TraceRecorder.text(of: error)).",
            request: attempt, response: outcome.response, underlying: error)
    }
}
