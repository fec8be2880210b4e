internal import Interception

extension RequestTask {
    /// Makes something else of the result; what the closure throws, the task throws.
    public func map<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) async throws -> Output
    ) -> AnyRequestTask<Output> {
        AnyRequestTask { try await transform(self.result()) }
    }

    /// Makes something else of the success or the failure, which may be a `CancellationError`.
    public func flatMap<Output: Sendable>(
        _ transform: @escaping @Sendable (Result<Element, any Error>) async throws -> Output
    ) -> AnyRequestTask<Output> {
        AnyRequestTask { try await transform(.of { try await self.result() }) }
    }

    /// Recovers from an error with a value, or throws another one; a cancellation passes by.
    public func mapError(_ transform: @escaping @Sendable (any Error) async throws -> Element) -> AnyRequestTask<Element> {
        AnyRequestTask {
            do {
                return try await self.result()
            } catch {
                if error is CancellationError { throw error }
                return try await transform(error)
            }
        }
    }

    /// Does something about an error, which goes on unless the closure throws another one; a cancellation passes by.
    public func flatMapError(_ perform: @escaping @Sendable (any Error) async throws -> Void) -> AnyRequestTask<Element> {
        mapError { error in
            try await perform(error)
            throw error
        }
    }

    /// Takes the payload out of the result, which throws when the validators reject its status.
    public func extractPayload<Payload>() -> AnyRequestTask<Payload> where Element == TaskResult<Payload> {
        map { try $0.get() }
    }
}
