internal import MidstreamCore

/// What a `Range` asks for (RFC 9110 §14.1.2), as far as one range of bytes goes.
enum RangeRequest: Sendable, Equatable {
    /// From a byte on, up to and including another or the end.
    case from(Int64, through: Int64?)
    /// So many bytes at the end.
    case last(Int64)
    /// Several ranges, or something that isn't understood.
    case other

    /// Nil when there is no such field.
    init?(_ values: [String]) {
        guard let value = values.first else { return nil }
        guard values.count == 1, value.utf8.count > 6, String(value.prefix(6)).equalsIgnoringASCIICase("bytes=") else {
            self = .other
            return
        }
        let text = Substring(value.utf8.dropFirst(6))
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !text.utf8.contains(UInt8(ascii: ",")) else {
            self = .other
            return
        }
        let first = ByteNumber.read(parts[0].trimmed)
        let last = ByteNumber.read(parts[1].trimmed)
        switch (parts[0].trimmed.isEmpty, parts[1].trimmed.isEmpty, first, last) {
        case (true, false, _, let count?): self = .last(count)
        case (false, true, let start?, _): self = .from(start, through: nil)
        case (false, false, let start?, let end?) where start <= end: self = .from(start, through: end)
        default: self = .other
        }
    }

    /// The bytes that it means of a representation so long; empty when there are none of them.
    func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let start, let end):
            guard start < length else { return 0..<0 }
            return start..<min(length, end.map { $0 == .max ? .max : $0 + 1 } ?? length)
        case .last(let count): return max(0, length - count)..<length
        case .other: return nil
        }
    }
}

/// A `Content-Range` (RFC 9110 §14.4).
struct ContentRange: Sendable, Equatable {
    let range: Range<Int64>
    /// The length of the whole; nil when the sender didn't know it.
    let length: Int64?

    /// Nil when it is none of satisfied bytes.
    init?(_ value: String?) {
        guard let value, value.utf8.count > 6, String(value.prefix(6)).equalsIgnoringASCIICase("bytes ") else { return nil }
        let sides = value.utf8.dropFirst(6).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let bounds = sides[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = ByteNumber.read(bounds[0].trimmed), let last = ByteNumber.read(bounds[1].trimmed),
            first <= last, last < .max
        else { return nil }
        range = first..<(last + 1)
        if sides[1].trimmed.elementsEqual("*".utf8) {
            length = nil
        } else {
            guard let whole = ByteNumber.read(sides[1].trimmed), range.upperBound <= whole else { return nil }
            length = whole
        }
    }

    static func text(_ range: Range<Int64>, of length: Int64?) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length.map { "\($0)" } ?? "*")"
    }
}

enum ByteNumber {
    /// Digits, and nothing else; one with no room for it is the largest.
    static func read(_ bytes: some Collection<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            guard 48...57 ~= byte else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooMuch) = product.addingReportingOverflow(Int64(byte - 48))
            number = isTooLarge || isTooMuch ? .max : sum
            if number == .max { return bytes.allSatisfy { 48...57 ~= $0 } ? .max : nil }
        }
        return number
    }
}

/// Which bytes of a representation are there: ranges in order, none of which touches another.
struct ByteRanges: Sendable, Hashable {
    private var kept = ShortList<Range<Int64>>()

    var ranges: [Range<Int64>] { kept.elements }
    var last: Range<Int64>? { kept.last }

    /// How many bytes they are.
    var count: Int64 { kept.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    init(_ ranges: [Range<Int64>] = []) {
        for range in ranges { insert(range) }
    }

    mutating func insert(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        if kept.isEmpty { kept = ShortList(range) } else { kept.change { Self.insert(range, into: &$0) } }
    }

    private static func insert(_ range: Range<Int64>, into ranges: inout [Range<Int64>]) {
        // From the end, where it nearly always belongs. Those that it unites stand together.
        var end = ranges.endIndex
        while end > 0, ranges[end - 1].lowerBound > range.upperBound { end -= 1 }
        var start = end
        var united = range
        while start > 0, ranges[start - 1].upperBound >= range.lowerBound {
            start -= 1
            united = min(ranges[start].lowerBound, united.lowerBound)..<max(ranges[start].upperBound, united.upperBound)
        }
        ranges.replaceSubrange(start..<end, with: CollectionOfOne(united))
    }

    /// Whether these bytes are there, and no others.
    func areOnly(_ range: Range<Int64>) -> Bool { kept.count == 1 && kept[0] == range }

    func contains(_ range: Range<Int64>) -> Bool {
        range.isEmpty || kept.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// The end of the bytes that are there from a place on; nil when not even the first of them is.
    func end(from place: Int64) -> Int64? { kept.first { $0.contains(place) }?.upperBound }
}
