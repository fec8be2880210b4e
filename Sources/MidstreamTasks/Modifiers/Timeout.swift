internal import MidstreamCore

extension Modifiers {
    /// Limits how long one attempt of each request before it may take. See ``HTTPRequest/timeout``.
    public struct Timeout<Element: Sendable>: RequestTaskModifier {
        private let duration: Duration

        /// Makes the modifier.
        ///
        /// - Parameter duration: How long an attempt may take; zero or less: it is over at once.
        public init(_ duration: Duration) { self.duration = duration }

        /// Gives the result as it is.
        ///
        /// - Throws: What the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            try await task.environment(AttemptTimeoutKey.self, duration).result()
        }
    }
}

/// How long an attempt of a data task may take that says nothing else.
enum AttemptTimeoutKey: TaskEnvironmentKey {
    static var defaultValue: Duration? { nil }
}

extension RequestTask {
    /// Limits how long one attempt of each request before it may take; a limit that stands further in wins. For a limit on everything
    /// before it, retries and waits included, use ``deadline(_:clock:)``. See ``Modifiers/Timeout``.
    public func timeout(_ duration: Duration) -> AnyRequestTask<Element> { modifier(Modifiers.Timeout(duration)) }
}
