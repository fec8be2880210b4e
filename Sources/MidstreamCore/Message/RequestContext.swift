/// A key under which a request carries a value.
///
/// ```swift
/// enum Tenant: RequestContextKey { static let defaultValue = "public" }
/// request.context[Tenant.self] = "acme"
/// ```
public protocol RequestContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value where none has been set.
    static var defaultValue: Value { get }
}

/// Typed values that travel with a request through the pipeline and never go on the wire.
public struct RequestContext: Sendable, CustomStringConvertible, CustomReflectable {
    private var values = KeyedValues()
    /// Limits of time and retries.
    package var limits = RequestLimits()
    /// The limits as the client or the arbiter has read them.
    var keptLimits = RequestLimits()

    /// Nothing set.
    public init() {}

    /// The value of a key; its default when none is set.
    public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value {
        get { values.value(of: ObjectIdentifier(key)).flatMap { $0 as? Key.Value } ?? Key.defaultValue }
        set { values.set(newValue, for: ObjectIdentifier(key)) }
    }

    /// Whether nothing has been set under any key.
    var hasNoValues: Bool { values.isEmpty }

    /// Whether something has been set under a key.
    func has(_ key: any RequestContextKey.Type) -> Bool { values.has(ObjectIdentifier(key)) }

    /// Takes over what another one has and this one hasn't, but nothing of these keys.
    mutating func complete(from other: RequestContext, without keys: [ObjectIdentifier]) {
        values.complete(from: other.values, without: keys)
        limits = limits.over(other.limits)
        keptLimits = other.keptLimits
    }

    /// Whether all values are `Hashable`, and so can be compared.
    package var isComparable: Bool { values.areComparable }

    /// Whether both have the same values; false where values can't be compared.
    package func isEqual(to other: RequestContext) -> Bool { limits == other.limits && values.isEqual(to: other.values) }

    /// How many values are set, without the values, which may be secret.
    public var description: String { "\(values.count + (limits == RequestLimits() ? 0 : 1)) values" }

    /// Shows no values, since they may be secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
