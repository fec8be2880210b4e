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
    /// before it, retries and waits included, use ``deadline(_:clock:)``.
    ///
    /// - Parameter duration: How long an attempt may take; zero or less fails immediately. See ``HTTPRequest/timeout``.
    public func timeout(_ duration: Duration) -> AnyRequestTask<Element> { environment(AttemptTimeoutKey.self, duration) }

    func changingEnvironment(_ change: @escaping @Sendable (inout TaskEnvironmentValues) -> Void) -> AnyRequestTask<Element> {
        AnyRequestTask {
            var values = TaskEnvironmentValues.current
            change(&values)
            return try await TaskEnvironmentValues.$current.withValue(values) { try await self.result() }
        }
    }
}

/// The timeout of an attempt of data tasks that set none.
enum AttemptTimeoutKey: TaskEnvironmentKey {
    static var defaultValue: Duration? { nil }
}
