internal import Foundation
internal import MidstreamCore

/// A key of the environment in which tasks run.
///
/// ```swift
/// enum Tenant: TaskEnvironmentKey { static let defaultValue = "public" }
///
/// extension TaskEnvironmentValues {
///     var tenant: String {
///         get { self[Tenant.self] }
///         set { self[Tenant.self] = newValue }
///     }
/// }
///
/// client.get("news").modifier(MyModifier()).environment(\.tenant, "acme")
/// ```
public protocol TaskEnvironmentKey {
    /// What is kept under the key.
    associatedtype Value: Sendable
    /// What is read when nothing has been set.
    static var defaultValue: Value { get }
}

/// Typed values that go from the outside of a task to its inside: everything before an `environment` modifier can read what it sets.
///
/// They are kept in a task-local value, so that child tasks have them too and a detached task hasn't.
public struct TaskEnvironmentValues: Sendable, CustomStringConvertible, CustomReflectable {
    private var values = KeyedValues()

    /// Nothing set.
    public init() {}

    /// The values at this place, as `environment` modifiers have set them; nothing is set outside a task.
    @TaskLocal public static var current = TaskEnvironmentValues()

    /// The value of a key; its default when none is set.
    public subscript<Key: TaskEnvironmentKey>(key: Key.Type) -> Key.Value {
        get { values.value(of: ObjectIdentifier(key)).flatMap { $0 as? Key.Value } ?? Key.defaultValue }
        set { values.set(newValue, for: ObjectIdentifier(key)) }
    }

    /// How many values are set; not what they are, since they may be secret.
    public var description: String { values.description }

    /// Shows no values, since they may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TaskEnvironmentValues {
    private enum LoggerKey: TaskEnvironmentKey {
        /// The form of `write` that throws: the other one raises an exception when nobody reads any more, which ends the process.
        static let defaultValue: @Sendable (String) -> Void = { message in
            try? FileHandle.standardError.write(contentsOf: Data("\(message)\n".utf8))
        }
    }

    /// Writes the messages of tasks; each as a line to standard error by default. Called from any task.
    public var logger: @Sendable (String) -> Void {
        get { self[LoggerKey.self] }
        set { self[LoggerKey.self] = newValue }
    }
}

/// Reads a value of the environment, in a modifier or task interceptor.
///
/// ```swift
/// struct Announce<Element: Sendable>: RequestTaskModifier {
///     @TaskEnvironment(\.logger) var logger
///
///     func body(_ task: AnyRequestTask<Element>) async throws -> Element {
///         logger("asking")
///         return try await task.result()
///     }
/// }
/// ```
@propertyWrapper
public struct TaskEnvironment<Value: Sendable>: Sendable {
    private let read: @Sendable (TaskEnvironmentValues) -> Value

    /// Reads by a property of the values.
    public init(_ keyPath: any KeyPath<TaskEnvironmentValues, Value> & Sendable) { read = { $0[keyPath: keyPath] } }

    /// Reads by a key.
    public init<Key: TaskEnvironmentKey & SendableMetatype>(_ key: Key.Type) where Key.Value == Value {
        read = { $0[key] }
    }

    /// The value at the place where it is read.
    public var wrappedValue: Value { read(TaskEnvironmentValues.current) }
}
