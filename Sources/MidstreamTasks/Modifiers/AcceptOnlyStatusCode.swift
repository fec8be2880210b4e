public import MidstreamCore

extension RequestTask {
    /// Accepts these statuses and throws for any other; an empty set accepts all. It overrules the validators, either way.
    ///
    /// ```swift
    /// let maybe = client.get("users/42").acceptOnlyStatusCode([200, 404])
    /// ```
    ///
    /// For any other status the task throws ``HTTPError/Code/unacceptableStatus`` with the response, whose body is still to be read where it is
    /// streamed and the validators have let it through.
    public func acceptOnlyStatusCode<Payload>(
        _ statuses: HTTPStatusSet
    ) -> AnyRequestTask<TaskResult<Payload>> where Element == TaskResult<Payload> {
        AnyRequestTask {
            let result = try await self.result()
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
