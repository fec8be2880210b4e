/// Values by the type of their key. A message has a few of them at most, which are looked through faster than hashed.
package struct KeyedValues: Sendable, CustomStringConvertible {
    private var values: [(key: ObjectIdentifier, value: any Sendable)] = []

    package init() {}

    package var isEmpty: Bool { values.isEmpty }

    /// The value of a key; nil when none has been set.
    package subscript<Key, Value: Sendable>(key: Key.Type) -> Value? {
        get { value(of: ObjectIdentifier(key)) as? Value }
        set {
            if let newValue {
                set(newValue, for: ObjectIdentifier(key))
            } else if let place = place(of: ObjectIdentifier(key)) {
                values.remove(at: place)
            }
        }
    }

    /// The value as it is kept. Where its type is known by the caller alone, this doesn't have the runtime look for an optional one.
    func value(of key: ObjectIdentifier) -> (any Sendable)? {
        guard !values.isEmpty, let place = place(of: key) else { return nil }
        return values[place].value
    }

    mutating func set(_ value: any Sendable, for key: ObjectIdentifier) {
        if let place = place(of: key) { values[place].value = value } else { values.append((key, value)) }
    }

    private func place(of key: ObjectIdentifier) -> Int? { values.firstIndex { $0.key == key } }

    /// Whether it can be told of all values if they are the same as others.
    package var areComparable: Bool { values.allSatisfy { $0.value is any Hashable } }

    /// Whether both have the same values; false where that can't be told.
    package func isEqual(to other: KeyedValues) -> Bool {
        values.count == other.values.count
            && values.allSatisfy { key, value in
                guard let value = value as? any Hashable, let place = other.place(of: key),
                    let counterpart = other.values[place].value as? any Hashable
                else { return false }
                return AnyHashable(value) == AnyHashable(counterpart)
            }
    }

    /// How many values are set; not what they are, since they may be secret.
    package var description: String { "\(values.count) values" }
}
