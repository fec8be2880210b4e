internal import MidstreamCore

extension Modifiers {
    /// Does something about an error, which goes on unless that throws another one.
    public struct FlatMapError<Element: Sendable>: RequestTaskModifier {
        private let perform: @Sendable (any Error) async throws -> Void

        /// Makes the modifier.
        public init(_ perform: @escaping @Sendable (any Error) async throws -> Void) { self.perform = perform }

        /// Gives the result. A cancellation passes by, so that nothing takes its place; an interceptor sees it.
        ///
        /// - Throws: What the closure throws, the task's error otherwise.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            do {
                return try await task.result()
            } catch {
                if !(error is CancellationError) { try await perform(error) }
                throw error
            }
        }
    }
}

extension RequestTask {
    /// Does something about an error, which goes on unless the closure throws another one; a cancellation passes by. See
    /// ``Modifiers/FlatMapError``.
    public func flatMapError(_ perform: @escaping @Sendable (any Error) async throws -> Void) -> AnyRequestTask<Element> {
        modifier(Modifiers.FlatMapError(perform))
    }
}
