internal import MidstreamCore

extension Modifiers {
    /// Recovers from an error, or throws another one in its place.
    public struct MapError<Element: Sendable>: RequestTaskModifier {
        private let transform: @Sendable (any Error) async throws -> Element

        /// Makes the modifier.
        public init(_ transform: @escaping @Sendable (any Error) async throws -> Element) { self.transform = transform }

        /// Gives the result, or what the closure gives for the error. A cancellation passes by: nobody waits for a recovery.
        ///
        /// - Throws: What the closure throws; `CancellationError`.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            do {
                return try await task.result()
            } catch {
                if error is CancellationError { throw error }
                return try await transform(error)
            }
        }
    }
}

extension RequestTask {
    /// Recovers from an error with a value, or throws another one; a cancellation passes by. See ``Modifiers/MapError``.
    public func mapError(_ transform: @escaping @Sendable (any Error) async throws -> Element) -> AnyRequestTask<Element> {
        modifier(Modifiers.MapError(transform))
    }
}
