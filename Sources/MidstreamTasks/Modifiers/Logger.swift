internal import MidstreamCore

extension Modifiers {
    /// Sets the logger of everything before it.
    public struct Logger<Element: Sendable>: RequestTaskModifier {
        private let logger: TaskLogger

        /// Makes the modifier.
        public init(_ logger: TaskLogger) { self.logger = logger }

        /// Gives the result as it is.
        ///
        /// - Throws: What the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            try await task.environment(\.logger, logger).result()
        }
    }
}

extension RequestTask {
    /// Sets where everything before it writes what it has to say. See ``TaskLogger``.
    public func logger(_ logger: TaskLogger) -> AnyRequestTask<Element> { modifier(Modifiers.Logger(logger)) }
}
