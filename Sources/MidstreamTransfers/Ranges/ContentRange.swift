internal import MidstreamCore

/// What a `Content-Range` says (RFC 9110 §14.4).
enum ContentRange: Equatable, Sendable {
    /// These bytes, of so many in all, when that is told.
    case bytes(Range<Int64>, total: Int64?)
    /// None of the bytes that were asked for, since there are so many in all.
    case unsatisfied(total: Int64)

    /// Reads the value of the field; nil when it is no range of bytes, or contradicts itself.
    init?(_ value: String) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, String(parts[0]).equalsIgnoringASCIICase("bytes") else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[0] == "*" {
            guard let total = Int64(digits: sides[1]) else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let bounds = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(digits: bounds[0]), let last = Int64(digits: bounds[1]), first <= last,
            last < .max
        else { return nil }
        var total: Int64?
        if sides[1] != "*" {
            guard let told = Int64(digits: sides[1]), last < told else { return nil }
            total = told
        }
        self = .bytes(first..<(last + 1), total: total)
    }
}
