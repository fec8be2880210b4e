internal import MidstreamCore

extension Modifiers {
    /// Sets a value of the environment for everything before it.
    public struct Environment<Element: Sendable>: RequestTaskModifier {
        private let change: @Sendable (inout TaskEnvironmentValues) -> Void

        /// Makes the modifier of a property of the values.
        public init<Value: Sendable>(
            _ keyPath: any WritableKeyPath<TaskEnvironmentValues, Value> & Sendable, _ value: Value
        ) {
            change = { $0[keyPath: keyPath] = value }
        }

        /// Makes the modifier of a key.
        public init<Key: TaskEnvironmentKey & SendableMetatype>(_ key: Key.Type, _ value: Key.Value) {
            change = { $0[key] = value }
        }

        /// Gives the result as it is.
        ///
        /// - Throws: What the task throws.
        public func body(_ task: AnyRequestTask<Element>) async throws -> Element {
            var values = TaskEnvironmentValues.current
            change(&values)
            return try await TaskEnvironmentValues.$current.withValue(values) { try await task.result() }
        }
    }
}

extension RequestTask {
    /// Sets a value of the environment for everything before it; one that is set further in wins. See
    /// ``TaskEnvironmentValues``.
    public func environment<Value: Sendable>(
        _ keyPath: any WritableKeyPath<TaskEnvironmentValues, Value> & Sendable, _ value: Value
    ) -> AnyRequestTask<Element> {
        modifier(Modifiers.Environment(keyPath, value))
    }

    /// Sets a value of the environment for everything before it; one that is set further in wins. See
    /// ``TaskEnvironmentValues``.
    public func environment<Key: TaskEnvironmentKey & SendableMetatype>(
        _ key: Key.Type, _ value: Key.Value
    ) -> AnyRequestTask<Element> {
        modifier(Modifiers.Environment(key, value))
    }
}
