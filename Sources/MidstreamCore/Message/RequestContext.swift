/// A key under which a request carries a value.
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
    private var values = KeyedValues()
    /// What is said about times and retries.
    package var limits = RequestLimits()
    /// Those of them that are kept already, as the client or the arbiter has read them.
    var keptLimits = RequestLimits()

    /// Nothing set.
    public init() {}

    /// The value of a key; its default when none is set.
    public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value {
        get {
            guard let value = values.value(of: ObjectIdentifier(key)) else { return Key.defaultValue }
            return value as? Key.Value ?? Key.defaultValue
        }
        set { values.set(newValue, for: ObjectIdentifier(key)) }
    }

    /// Whether nothing has been set under any key.
    var hasNoValues: Bool { values.isEmpty }

    /// Whether something has been set under a key.
    func has(_ key: any RequestContextKey.Type) -> Bool { values.has(ObjectIdentifier(key)) }

    /// Whether it can be told of all values if they are the same as another request's: they are `Hashable`.
    package var isComparable: Bool { values.areComparable }

    /// Whether both have the same values set; false where that can't be told.
    package func isEqual(to other: RequestContext) -> Bool { limits == other.limits && values.isEqual(to: other.values) }

    /// How many values are set; not what they are, since they may be secret.
    public var description: String { "\(values.count + (limits == RequestLimits() ? 0 : 1)) values" }

    /// Shows no values, since they may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
