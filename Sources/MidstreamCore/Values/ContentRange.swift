/// A `Content-Range` (RFC 9110 §14.4).
package enum ContentRange: Equatable, Sendable {
    /// These bytes, of a total that may be unknown.
    case bytes(Range<Int64>, total: Int64?)
    /// None of the bytes that were asked for, since there are so many in all.
    case unsatisfied(total: Int64)

    /// Reads the value of the field; nil when it is no range of bytes, or contradicts itself.
    package init?(_ value: String) {
        guard let (unit, range) = value[...].halves(at: " "), String(unit).equalsIgnoringASCIICase("bytes"),
            let (place, length) = range.halves(at: "/")
        else { return nil }
        if place == "*" {
            guard let total = Int64(digits: length) else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        guard let bounds = place.halves(at: "-"), let first = Int64(digits: bounds.0), let last = Int64(digits: bounds.1),
            first <= last, last < .max
        else { return nil }
        var total: Int64?
        if length != "*" {
            guard let told = Int64(digits: length), last < told else { return nil }
            total = told
        }
        self = .bytes(first..<(last + 1), total: total)
    }

    /// The value of the field.
    package static func text(_ range: Range<Int64>, of total: Int64?) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { "\($0)" } ?? "*")"
    }
}

extension Substring {
    /// What is before an ASCII character, and what is behind it; nil when it isn't there.
    fileprivate func halves(at mark: Unicode.Scalar) -> (Substring, Substring)? {
        guard let place = utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        return (self[..<place], self[utf8.index(after: place)...])
    }
}
