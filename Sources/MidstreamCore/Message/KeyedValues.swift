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

    /// Whether it can be told of all values if they are the same as others.
    package var areComparable: Bool { values.values.allSatisfy { $0 is any Hashable } }

    /// Whether both have the same values; false where that can't be told.
    package func isEqual(to other: KeyedValues) -> Bool {
        values.count == other.values.count
            && values.allSatisfy { key, value in
                guard let value = value as? any Hashable, let counterpart = other.values[key] as? any Hashable else {
                    return false
                }
                return AnyHashable(value) == AnyHashable(counterpart)
            }
    }

    /// How many values are set; not what they are, since they may be secret.
    package var description: String { "\(values.count) values" }
}
