package import Interception

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// Does what lies further in within limits that an interceptor has set behind the arbiter, which would have kept them.
    ///
    /// - Parameters:
    ///   - request: A request with ``HTTPRequest/hasLateLimits``.
    ///   - work: Given the request with its limits marked as kept, and the rest of the pipeline within them.
    /// - Throws: ``HTTPError/Code/deadlineExceeded``, and what the work throws. An error of the library's has the request, by which the arbiter
    ///   learns what was set.
    package func within(
        limitsOf request: HTTPRequest, _ work: @escaping @Sendable (HTTPRequest, Self) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let (limits, kept) = (request.limits, request.context.keptLimits)
        var request = request
        request.markLimitsKept()
        guard let call else { return try await work(request, self) }
        var next = self
        if limits.timeout != kept.timeout {
            next.position.due = call.due(in: limits.timeout ?? call.owner.attemptTimeout)
        }
        do {
            guard limits.deadline != kept.deadline, let duration = limits.deadline else { return try await work(request, next) }
            if let enclosing = call.deadline.duration, enclosing < duration {
                position.note({ "a deadline of \(duration) came too late: \(enclosing) holds" }, about: request)
                return try await work(request, next)
            }
            let deadline = CallDeadline(duration, within: call.deadline)
            let limited = next.branching(to: call.limited(by: deadline), due: next.position.due)
            return try await deadline.limit(call.stopwatch) { [request] in
                try await ChainPosition.local.withValue(limited.position) { try await work(request, limited) }
            }
        } catch var error as HTTPError where error.request == nil {
            error.request = request
            throw error
        }
    }
}
