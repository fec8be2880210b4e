internal import MidstreamCore

extension Interceptors {
    /// Writes what became of a task to the ``TaskEnvironmentValues/logger``.
    ///
    /// Of a result of HTTP it writes the status, the URL and the size, secrets withheld, of any other value its type, since
    /// nobody knows what is in it.
    public struct Log<Element: Sendable>: RequestTaskInterceptor {
        private let showsValues: Bool
        @TaskEnvironment(\.logger) private var logger

        /// Makes the interceptor.
        ///
        /// - Parameter showsValues: Whether to write decoded values as they print themselves, secrets and all; false by default.
        public init(showsValues: Bool = false) { self.showsValues = showsValues }

        /// Writes a line.
        public func output(_ result: Result<Element, any Error>) {
            switch result {
            case .success(let element): logger.log("[Success] \(text(of: element))")
            case .failure(let error):
                let text = error is HTTPError ? "\(error)" : TraceRecorder.text(of: error)
                logger.log("[Failure] \(text)")
            }
        }

        private func text(of element: Element) -> String {
            if showsValues || element is HTTPResponse || element is any Rejectable { return "\(element)" }
            return "\(Element.self)"
        }
    }
}

extension RequestTask {
    /// Writes what became of the task: to standard error, or to the ``TaskEnvironmentValues/logger`` that is set further out. See
    /// ``Interceptors/Log``.
    ///
    /// - Parameters:
    ///   - isActive: Whether to do so; true by default.
    ///   - showsValues: Whether to write decoded values as they print themselves, secrets and all; false by default.
    public func logInConsole(_ isActive: Bool = true, showsValues: Bool = false) -> AnyRequestTask<Element> {
        isActive ? interceptor(Interceptors.Log(showsValues: showsValues)) : AnyRequestTask(self)
    }
}
