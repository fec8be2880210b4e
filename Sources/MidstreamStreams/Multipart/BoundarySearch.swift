internal import MidstreamPlatform

/// Looks for the lines that separate the parts of a multipart body (RFC 2046 §5.1.1): a line end, two hyphens, the boundary, two more
/// hyphens behind the last part, white space.
///
/// A line that goes on otherwise behind the boundary is content. Each byte is looked at a fixed number of times, since neither a
/// boundary nor white space holds what a separating line begins with.
struct BoundarySearch {
    enum Finding: Equatable {
        /// There is none before this place.
        case content(upTo: Int)
        /// One begins at the start, and the next line at this place.
        case boundary(end: Int, isLast: Bool)
        /// What begins at the start may be one.
        case more
    }

    private enum Match {
        case none
        case unfinished
        case whole(end: Int, isLast: Bool)
    }

    /// The most white space behind a boundary; a line with more is content, so that none has to be kept for ever.
    private static let maximumPadding = 256

    private let lineEnd: [UInt8]
    /// The line end, two hyphens and the boundary.
    private let delimiter: [UInt8]

    init(_ boundary: String, lineEnd: String = "\r\n") {
        self.lineEnd = Array(lineEnd.utf8)
        delimiter = Array("\(lineEnd)--\(boundary)".utf8)
    }

    /// What begins at a place of a buffer: content, or a boundary.
    ///
    /// - Parameters:
    ///   - isAtLineStart: Whether the place is the start of a line, and what ended the last one was before it.
    ///   - isAtEnd: Whether nothing will follow.
    func find(in buffer: [UInt8], from start: Int, isAtLineStart: Bool, isAtEnd: Bool) -> Finding {
        buffer.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, start < bytes.count else { return .more }
            if isAtLineStart {
                switch match(bytes, at: start, delimiter[lineEnd.count...], isAtEnd) {
                case .whole(let end, let isLast): return .boundary(end: end, isLast: isLast)
                case .unfinished: return .more
                case .none: break
                }
            }
            var next = start
            while let found = memchr(base + next, Int32(delimiter[0]), bytes.count - next) {
                let place = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                switch match(bytes, at: place, delimiter[...], isAtEnd) {
                case .whole(let end, let isLast):
                    return place > start ? .content(upTo: place) : .boundary(end: end, isLast: isLast)
                case .unfinished: return place > start ? .content(upTo: place) : .more
                case .none: next = place + 1
                }
            }
            return .content(upTo: bytes.count)
        }
    }

    /// Whether bytes are all of a separating line but its end.
    func isDelimiter(_ bytes: ArraySlice<UInt8>, isAtLineStart: Bool) -> Bool {
        bytes.elementsEqual(delimiter) || isAtLineStart && bytes.elementsEqual(delimiter[lineEnd.count...])
    }

    private func match(
        _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, _ delimiter: ArraySlice<UInt8>, _ isAtEnd: Bool
    ) -> Match {
        let unfinished: Match = isAtEnd ? .none : .unfinished
        var place = start
        for byte in delimiter {
            guard place < bytes.count else { return unfinished }
            guard bytes[place] == byte else { return .none }
            place += 1
        }
        var isLast = false
        if place < bytes.count, bytes[place] == UInt8(ascii: "-") {
            guard place + 1 < bytes.count else { return unfinished }
            guard bytes[place + 1] == UInt8(ascii: "-") else { return .none }
            isLast = true
            place += 2
        }
        let padding = place
        while place < bytes.count, bytes[place] == 32 || bytes[place] == 9 {
            guard place - padding < Self.maximumPadding else { return .none }
            place += 1
        }
        // The last line needs no end.
        let rest = bytes.count - place
        if rest == 0 { return isAtEnd && isLast ? .whole(end: place, isLast: true) : unfinished }
        guard lineEnd.starts(with: bytes[place...].prefix(lineEnd.count)) else { return .none }
        guard rest >= lineEnd.count else { return isAtEnd && isLast ? .whole(end: bytes.count, isLast: true) : unfinished }
        return .whole(end: place + lineEnd.count, isLast: isLast)
    }
}
