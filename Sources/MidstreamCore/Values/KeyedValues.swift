/// Values by the type of their key, in an array: a message has a few at most, for which a search is faster than hashing.
package struct KeyedValues: Sendable, CustomStringConvertible {
    private struct Entry: Sendable {
        let key: ObjectIdentifier
        var value: any Sendable
    }

    private var values: [Entry] = []

    package init() {}

    var isEmpty: Bool { values.isEmpty }
    var count: Int { values.count }

    /// The value of a key; nil when none has been set.
    package func value(of key: ObjectIdentifier) -> (any Sendable)? {
        guard let place = place(of: key) else { return nil }
        return values[place].value
    }

    package mutating func set(_ value: any Sendable, for key: ObjectIdentifier) {
        if let place = place(of: key) { return values[place].value = value }
        // Who sets one mostly sets another.
        if values.isEmpty { values.reserveCapacity(2) }
        values.append(Entry(key: key, value: value))
    }

    /// Takes over the values of keys that have none here, except for some keys.
    mutating func complete(from other: KeyedValues, without keys: [ObjectIdentifier]) {
        for entry in other.values where !has(entry.key) && !keys.contains(entry.key) { values.append(entry) }
    }

    /// Whether there is a value of a key.
    func has(_ key: ObjectIdentifier) -> Bool { place(of: key) != nil }

    /// Compares keys in place, without copies of the values.
    private func place(of key: ObjectIdentifier) -> Int? {
        for place in values.indices where values[place].key == key { return place }
        return nil
    }

    /// Whether all values are `Hashable`, and so can be compared.
    package var areComparable: Bool { values.allSatisfy { $0.value is any Hashable } }

    /// Whether both have the same values; false where values can't be compared.
    package func isEqual(to other: KeyedValues) -> Bool {
        values.count == other.values.count
            && values.allSatisfy { entry in
                guard let value = entry.value as? any Hashable, let place = other.place(of: entry.key),
                    let counterpart = other.values[place].value as? any Hashable
                else { return false }
                return AnyHashable(value) == AnyHashable(counterpart)
            }
    }

    /// How many values are set, without the values, which may be secret.
    package var description: String { "\(count) values" }
}
