internal import MidstreamCore

/// Which bytes of a representation are there: ranges in order, which don't touch. Nearly always one, which takes no memory of its own.
package struct StoredRanges: Sendable, Hashable {
    private var kept = ShortList<Range<Int64>>()

    package var ranges: [Range<Int64>] { kept.elements }
    package var last: Range<Int64>? { kept.last }

    /// How many bytes they are.
    package var count: Int64 { kept.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    package init(_ ranges: [Range<Int64>] = []) {
        for range in ranges { insert(range) }
    }

    package mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        if kept.isEmpty { kept = ShortList(range) } else { kept.change { $0.merge(range) } }
    }

    /// Whether these bytes are there, and no others.
    package func areOnly(_ range: Range<Int64>) -> Bool { kept.count == 1 && kept[0] == range }

    package func contains(_ range: Range<Int64>) -> Bool {
        range.isEmpty || kept.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// The end of the bytes that are there from a place on; nil when not even the first of them is.
    package func end(from place: Int64) -> Int64? { kept.first { $0.contains(place) }?.upperBound }
}
