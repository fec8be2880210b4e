/// The distinct states of a message. Most calls have one, which needs no array.
struct Versions<Snapshot> {
    private var first: Snapshot?
    private var others: [Snapshot] = []

    var count: Int { first == nil ? 0 : others.count + 1 }
    var all: [Snapshot] { (first.map { [$0] } ?? []) + others }

    /// Whether the last state fulfils a condition. Compares in place, without a copy.
    func isLast(_ condition: (borrowing Snapshot) -> Bool) -> Bool {
        if let last = others.last { return condition(last) }
        guard let first else { return false }
        return condition(first)
    }

    subscript(index: Int32) -> Snapshot? {
        index == 0 ? first : others.indices.contains(Int(index) - 1) ? others[Int(index) - 1] : nil
    }

    mutating func append(_ snapshot: Snapshot) {
        if first == nil { first = snapshot } else { others.append(snapshot) }
    }
}
