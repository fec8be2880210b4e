internal import MidstreamCore

extension RequestTask {
    /// Writes a line about the result to the ``TaskEnvironmentValues/logger`` that is set further out, otherwise to standard error.
    ///
    /// Of a result of HTTP it writes the status, the URL and the size, secrets withheld; of any other value only its type.
    ///
    /// - Parameters:
    ///   - isActive: Whether to do so; true by default.
    ///   - showsValues: Whether to write decoded values as they print themselves, secrets and all; false by default.
    public func logInConsole(_ isActive: Bool = true, showsValues: Bool = false) -> AnyRequestTask<Element> {
        guard isActive else { return AnyRequestTask(self) }
        return detach { TaskEnvironmentValues.current.logger(Self.line(about: $0, showsValues: showsValues)) }
    }

    private static func line(about result: Result<Element, any Error>, showsValues: Bool) -> String {
        switch result {
        case .success(let element):
            let showsValue = showsValues || element is HTTPResponse || element is any Rejectable
            return "[Success] \(showsValue ? "\(element)" : "\(Element.self)")"
        case .failure(let error):
            return "[Failure] \(error is HTTPError ? "\(error)" : TraceRecorder.text(of: error))"
        }
    }
}
