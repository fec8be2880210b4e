internal import MidstreamCore

/// What a `Range` asks for (RFC 9110 §14.1.2), as far as one range of bytes goes.
package enum RangeRequest: Sendable, Equatable {
    /// From a byte on, up to and including another or the end.
    case from(Int64, through: Int64?)
    /// So many bytes at the end.
    case last(Int64)
    /// Several ranges, or something that isn't understood.
    case other

    /// Nil when there is no such field.
    package init?(_ values: [String]) {
        guard let value = values.first else { return nil }
        self = .other
        guard values.count == 1, value.utf8.count > 6, String(value.prefix(6)).equalsIgnoringASCIICase("bytes=") else { return }
        let text = value.utf8.dropFirst(6)
        let parts = text.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
        guard parts.count == 2, !text.contains(UInt8(ascii: ",")) else { return }
        let (first, last) = (ByteNumber.read(parts[0]), ByteNumber.read(parts[1]))
        switch (parts[0].isEmpty, parts[1].isEmpty, first, last) {
        case (true, false, _, let count?): self = .last(count)
        case (false, true, let start?, _): self = .from(start, through: nil)
        case (false, false, let start?, let end?) where start <= end: self = .from(start, through: end)
        default: break
        }
    }

    /// The bytes that it means of a representation so long; empty when there are none of them.
    package func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let start, let end):
            guard start < length else { return 0..<0 }
            return start..<min(length, end.map { $0 == .max ? .max : $0 + 1 } ?? length)
        case .last(let count): return max(0, length - count)..<length
        case .other: return nil
        }
    }
}

package enum ByteNumber {
    /// Digits, and nothing else; one with no room for it is the largest.
    package static func read(_ bytes: some Collection<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            guard 48...57 ~= byte else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooMuch) = product.addingReportingOverflow(Int64(byte - 48))
            number = isTooLarge || isTooMuch ? .max : sum
        }
        return number
    }
}
