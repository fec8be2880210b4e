extension [Range<Int64>] {
    /// Adds a range to those here, which are in order and don't touch, and unites it with those that it touches.
    package mutating func merge(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        // From the end: nearly always it continues the last one, or one of a few.
        var end = endIndex
        while end > 0, self[end - 1].lowerBound > range.upperBound { end -= 1 }
        var start = end
        var merged = range
        while start > 0, self[start - 1].upperBound >= range.lowerBound {
            start -= 1
            merged = Swift.min(self[start].lowerBound, merged.lowerBound)..<Swift.max(self[start].upperBound, merged.upperBound)
        }
        replaceSubrange(start..<end, with: CollectionOfOne(merged))
    }
}
