internal import MidstreamCore

extension Interceptors {
    /// Shows results to a closure.
    public struct Detach<Element: Sendable>: RequestTaskInterceptor {
        private let perform: @Sendable (Result<Element, any Error>) -> Void

        /// Makes the interceptor.
        public init(_ perform: @escaping @Sendable (Result<Element, any Error>) -> Void) { self.perform = perform }

        /// Calls the closure.
        public func output(_ result: Result<Element, any Error>) { perform(result) }
    }
}

extension RequestTask {
    /// Shows each result to a closure, which can't change it. See ``RequestTaskInterceptor``.
    public func detach(_ perform: @escaping @Sendable (Result<Element, any Error>) -> Void) -> AnyRequestTask<Element> {
        interceptor(Interceptors.Detach(perform))
    }
}
