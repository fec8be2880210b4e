/// Field names that can be found in a head without making or hashing a string for each field.
package struct FieldNameTable: Sendable {
    private struct Entry: Sendable {
        let lowercased: [UInt8]
        let place: Int
    }

    /// By the lengths of the names.
    private let entries: [[Entry]]
    /// The first letters of the names of each length, as bits, which rule out most fields.
    private let initials: [UInt32]

    package init(_ listed: [HTTPHeaders.Name]) {
        let longest = listed.map(\.rawValue.utf8.count).max() ?? 0
        var entries = [[Entry]](repeating: [], count: longest + 1)
        var initials = [UInt32](repeating: 0, count: longest + 1)
        for (place, name) in listed.enumerated() {
            let lowercased = name.rawValue.utf8.map(\.asciiLowercased)
            entries[lowercased.count].append(Entry(lowercased: lowercased, place: place))
            initials[lowercased.count] |= Self.initial(lowercased.first ?? 0)
        }
        (self.entries, self.initials) = (entries, initials)
    }

    /// Whether a name is in the table, without regard to ASCII case.
    package func contains(_ name: HTTPHeaders.Name) -> Bool {
        var text = name.rawValue
        return text.withUTF8 { place(of: $0) != nil }
    }

    /// The place of a name in the original list; nil when it isn't there.
    func place(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = name.first, name.count < initials.count, initials[name.count] & Self.initial(first) != 0 else {
            return nil
        }
        return entries[name.count].first { entry in
            entry.lowercased.withUnsafeBufferPointer { lowercased in
                for place in 0..<name.count where name[place].asciiLowercased != lowercased[place] { return false }
                return true
            }
        }?.place
    }

    /// Letters differ in their last five bits, whatever their case.
    private static func initial(_ byte: UInt8) -> UInt32 { 1 << UInt32(byte & 31) }
}

extension HTTPHeaders {
    /// Whether there is a field of a table.
    package func contains(oneOf table: FieldNameTable) -> Bool { firstLine { table.place(of: $0.nameBytes) != nil } != nil }

    /// Calls `body` with each field of a table, in order: its name's place in the table's list, and its value.
    package func forEachField(in table: FieldNameTable, _ body: (Int, UnsafeBufferPointer<UInt8>) -> Void) {
        _ = firstLine { line in
            if let place = table.place(of: line.nameBytes) { body(place, line.value) }
            return false
        }
    }

    /// Removes all fields of a table, in one pass.
    package mutating func removeAll(in table: FieldNameTable) {
        removeAll({ table.place(of: $0.nameBytes) != nil }, refused: table.contains)
    }

    /// Whether there is a field whose values are secret.
    package var hasSensitive: Bool {
        if !sensitiveNames.isEmpty, sensitiveNames.contains(where: { contains($0) }) { return true }
        return contains(oneOf: Name.sensitive)
    }
}
