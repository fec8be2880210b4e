internal import MidstreamCore

/// Which bytes of a representation are there: ranges in order, which don't touch.
struct ByteRanges: Equatable, Sendable {
    private(set) var ranges: [Range<Int64>] = []

    /// Takes any ranges, in any order.
    init(_ ranges: [Range<Int64>] = []) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { insert(range) }
    }

    /// How many there are.
    var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// Where the last one ends.
    var end: Int64 { ranges.last?.upperBound ?? 0 }

    mutating func insert(_ range: Range<Int64>) { ranges.merge(range) }

    /// The ranges that are missing of so many bytes.
    func gaps(upTo total: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var start: Int64 = 0
        for range in ranges where range.lowerBound < total {
            if range.lowerBound > start { gaps.append(start..<range.lowerBound) }
            start = range.upperBound
        }
        if start < total { gaps.append(start..<total) }
        return gaps
    }
}
