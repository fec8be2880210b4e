internal import MidstreamCore

extension Modifiers {
    /// Makes something else of a result.
    public struct Map<Input: Sendable, Output: Sendable>: RequestTaskModifier {
        private let transform: @Sendable (Input) async throws -> Output

        /// Makes the modifier.
        public init(_ transform: @escaping @Sendable (Input) async throws -> Output) { self.transform = transform }

        /// Gives what the closure makes of the result.
        ///
        /// - Throws: What the task or the closure throws.
        public func body(_ task: AnyRequestTask<Input>) async throws -> Output { try await transform(task.result()) }
    }
}

extension RequestTask {
    /// Makes something else of the result; what the closure throws, the task throws. See ``Modifiers/Map``.
    public func map<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) async throws -> Output
    ) -> AnyRequestTask<Output> {
        modifier(Modifiers.Map(transform))
    }
}
