public import MidstreamCore

extension Modifiers {
    /// Throws unless the status is one of a set, and lets through what is in it even if the validators reject it.
    public struct AcceptOnlyStatusCode<Payload: Sendable>: RequestTaskModifier {
        private let statuses: HTTPStatusSet

        /// Makes the modifier. An empty set accepts every status.
        public init(_ statuses: HTTPStatusSet) { self.statuses = statuses }

        /// Gives the accepted result.
        ///
        /// - Throws: ``HTTPError/Code/unacceptableStatus`` with the response; what the task throws.
        public func body(_ task: AnyRequestTask<TaskResult<Payload>>) async throws -> TaskResult<Payload> {
            let result = try await task.result()
            guard statuses.isEmpty || statuses.contains(result.head.status) else {
                let response = result.anyResponse
                throw HTTPError(
                    .unacceptableStatus, "The server answered \(response.status); accepted are \(statuses).",
                    request: response.request, response: response, underlying: result.rejection)
            }
            return result.accepted()
        }
    }
}

extension RequestTask {
    /// Accepts these statuses and throws for any other; an empty set accepts all. It overrules the validators, either way.
    ///
    /// ```swift
    /// let maybe = client.get("users/42").acceptOnlyStatusCode([200, 404])
    /// ```
    ///
    /// See ``Modifiers/AcceptOnlyStatusCode``.
    public func acceptOnlyStatusCode<Payload>(
        _ statuses: HTTPStatusSet
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        modifier(Modifiers.AcceptOnlyStatusCode(statuses))
    }
}
