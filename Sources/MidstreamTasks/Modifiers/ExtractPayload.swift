internal import MidstreamCore

extension Modifiers {
    /// Takes the payload out of an accepted result.
    public struct ExtractPayload<Payload: Sendable>: RequestTaskModifier {
        /// Makes the modifier.
        public init() {}

        /// Gives the payload.
        ///
        /// - Throws: The result's rejection; what the task throws.
        public func body(_ task: AnyRequestTask<TaskResult<Payload>>) async throws -> Payload {
            try await task.result().get()
        }
    }
}

extension RequestTask {
    /// Takes the payload out of the result, which throws when the validators reject its status. See
    /// ``Modifiers/ExtractPayload``.
    public func extractPayload<Payload>() -> AnyRequestTask<Payload> where Element == TaskResult<Payload> {
        modifier(Modifiers.ExtractPayload())
    }
}
