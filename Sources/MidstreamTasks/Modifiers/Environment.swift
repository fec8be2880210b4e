internal import Foundation
internal import Interception
internal import MidstreamCore

extension RequestTask {
    /// Sets a value of the environment for everything before it; one that is set further in wins. See
    /// ``TaskEnvironmentValues``.
    public func environment<Value: Sendable>(
        _ keyPath: any WritableKeyPath<TaskEnvironmentValues, Value> & Sendable, _ value: Value
    ) -> AnyRequestTask<Element> {
        changingEnvironment { $0[keyPath: keyPath] = value }
    }

    /// Sets a value of the environment for everything before it; one that is set further in wins. See
    /// ``TaskEnvironmentValues``.
    public func environment<Key: TaskEnvironmentKey & SendableMetatype>(
        _ key: Key.Type, _ value: Key.Value
    ) -> AnyRequestTask<Element> {
        changingEnvironment { $0[key] = value }
    }

    /// Sets the closure that writes the messages of everything before it, such as those of `logInConsole`.
    public func logger(_ write: @escaping @Sendable (String) -> Void) -> AnyRequestTask<Element> { environment(\.logger, write) }

    /// Limits how long one attempt of each request before it may take; a limit further in wins. For a limit on everything
    /// before it, retries and waits included, use ``deadline(_:clock:)``. The timeout doesn't reach tasks that interceptors
    /// make; they may have one of their own.
    ///
    /// - Parameter duration: How long an attempt may take; zero or less fails immediately. See ``HTTPRequest/timeout``.
    public func timeout(_ duration: Duration) -> AnyRequestTask<Element> {
        changingEnvironment { $0.requestTerms.timeout = duration }
    }

    func changingEnvironment(_ change: @escaping @Sendable (inout TaskEnvironmentValues) -> Void) -> AnyRequestTask<Element> {
        AnyRequestTask {
            var values = TaskEnvironmentValues.current
            change(&values)
            return try await TaskEnvironmentValues.$current.withValue(values) { try await self.result() }
        }
    }
}

/// What modifiers set for the requests of data tasks before them.
struct RequestTerms: Sendable {
    /// The timeout of an attempt of data tasks that set none.
    var timeout: Duration?
    /// The observer of the bytes that are sent and received.
    var observer: TransferObserver?
    var repetition: Repetition?
    /// The request of the call within which they were set; nil: outside all calls.
    fileprivate var place: HTTPRequest.ID?
}

extension TaskEnvironmentValues {
    private enum RequestTermsKey: TaskEnvironmentKey { static var defaultValue: RequestTerms? { nil } }

    /// What was set within the call that the present task is part of: what was set around that isn't for what its interceptors send by tasks
    /// of their own.
    var requestTerms: RequestTerms {
        get {
            guard let terms = self[RequestTermsKey.self], terms.place == ChainPosition.current?.call?.requestID else {
                return RequestTerms()
            }
            return terms
        }
        set {
            var terms = newValue
            terms.place = ChainPosition.current?.call?.requestID
            self[RequestTermsKey.self] = terms
        }
    }
}
