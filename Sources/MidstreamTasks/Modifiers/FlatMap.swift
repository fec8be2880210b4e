internal import MidstreamCore

extension Modifiers {
    /// Makes something else of a success or a failure.
    public struct FlatMap<Input: Sendable, Output: Sendable>: RequestTaskModifier {
        private let transform: @Sendable (Result<Input, any Error>) async throws -> Output

        /// Makes the modifier.
        public init(_ transform: @escaping @Sendable (Result<Input, any Error>) async throws -> Output) {
            self.transform = transform
        }

        /// Gives what the closure makes of the success, the failure or the cancellation.
        ///
        /// - Throws: What the closure throws.
        public func body(_ task: AnyRequestTask<Input>) async throws -> Output {
            let result: Result<Input, any Error>
            do { result = .success(try await task.result()) } catch { result = .failure(error) }
            return try await transform(result)
        }
    }
}

extension RequestTask {
    /// Makes something else of the success or the failure, which may be a `CancellationError`. See ``Modifiers/FlatMap``.
    public func flatMap<Output: Sendable>(
        _ transform: @escaping @Sendable (Result<Element, any Error>) async throws -> Output
    ) -> AnyRequestTask<Output> {
        modifier(Modifiers.FlatMap(transform))
    }
}
