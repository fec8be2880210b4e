internal import Foundation

/// How a file is laid out, so that entries can be added to it and a damaged one be mended: an entry begins a line of its own.
enum HARFormat {
    static let beginning = Data(
        #"{"log":{"version":"1.2","creator":{"name":"Midstream","version":"0.1"},"entries":["#.utf8)
    static let firstSeparator = Data("\n".utf8)
    static let separator = Data(",\n".utf8)
    static let ending = Data("\n]}}\n".utf8)
    /// What follows the entries of an archive that has an account.
    static let beginningOfAccount = Data("\n],\"_midstream\":".utf8)

    static func encoded(_ entry: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(entry)
    }

    /// Where the whole entries of a file are that may be cut off, and where the last of them ends; nil when it has no list of entries.
    static func wholeEntries(of data: Data) -> (end: Int, entries: [Range<Int>])? {
        guard let list = data.firstRange(of: #""entries""#.utf8),
            let start = data[list.upperBound...].firstIndex(of: UInt8(ascii: "["))
        else { return nil }
        var entries: [Range<Int>] = []
        var (depth, begin, isInString, isEscaped) = (0, 0, false, false)
        for place in data.index(after: start)..<data.endIndex {
            let byte = data[place]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 0 { begin = place }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The end of the list.
                if depth == 0 { return (entries.last?.upperBound ?? data.index(after: start), entries) }
                depth -= 1
                if depth == 0 { entries.append(begin..<data.index(after: place)) }
            default: break
            }
        }
        return (entries.last?.upperBound ?? data.index(after: start), entries)
    }
}
