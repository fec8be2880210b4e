/// A key under which interceptors leave a value on a request for each other.
///
/// ```swift
/// enum Tenant: RequestContextKey { static let defaultValue = "public" }
/// request.context[Tenant.self] = "acme"
/// ```
public protocol RequestContextKey {
    /// What is kept under the key.
    associatedtype Value: Sendable
    /// What is read when nothing has been set.
    static var defaultValue: Value { get }
}

/// Typed values that travel with a request through the pipeline and never go on the wire.
public struct RequestContext: Sendable, CustomStringConvertible, CustomReflectable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Nothing set.
    public init() {}

    /// The value of a key; its default when none is set.
    public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// How many values are set; not what they are, since they may be secret.
    public var description: String { "\(values.count) values" }

    /// Shows no values, since they may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
