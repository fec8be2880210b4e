/// Values by the type of their key.
package struct KeyedValues: Sendable, CustomStringConvertible {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    package init() {}

    package var isEmpty: Bool { values.isEmpty }

    /// The value of a key; nil when none has been set.
    package subscript<Key, Value: Sendable>(key: Key.Type) -> Value? {
        get {
            guard !values.isEmpty, let value = values[ObjectIdentifier(key)] else { return nil }
            return value as? Value
        }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// How many values are set; not what they are, since they may be secret.
    package var description: String { "\(values.count) values" }
}
