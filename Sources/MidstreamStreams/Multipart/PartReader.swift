internal import MidstreamCore
internal import MidstreamPlatform

/// Reads a multipart body from its bytes, in whatever pieces they come (RFC 2046 §5.1).
struct PartReader {
    private enum Place {
        /// Before the first boundary.
        case preamble
        case head
        case content
        /// Within the line of a boundary, which has ended a part.
        case boundary
        /// Behind the last boundary.
        case epilogue
    }

    /// The bytes of a part's head.
    private static let maximumHead = 16 << 10
    /// What is passed over behind the last boundary, so that the connection can serve again.
    private static let maximumEpilogue = 64 << 10

    /// How many parts have begun.
    private(set) var partCount = 0
    private let body: HTTPBody
    private var chunks: HTTPBody.AsyncIterator
    /// What may separate the parts; the first boundary leaves one. Cameras give the two hyphens of their lines as a part of the parameter,
    /// and some servers end the lines by a line feed alone.
    private var searches: [BoundarySearch]
    private var buffer: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var place = Place.preamble
    /// A boundary may stand here without a line end before it.
    private var isAtLineStart = true
    /// Whether the part is JSON, of which no line begins as a boundary does, so that one needs no end.
    private var isJSON = false

    init(_ body: HTTPBody, boundary: String) {
        self.body = body.fromStart
        chunks = self.body.makeAsyncIterator()
        let hyphened = boundary.hasPrefix("--") && boundary != "--" ? [String(boundary.dropFirst(2))] : []
        searches = ([boundary] + hyphened).flatMap { [BoundarySearch($0), BoundarySearch($0, lineEnd: "\n")] }
    }

    /// The head of the next part, whatever is left of the one before; nil at the end.
    mutating func nextHead() async throws -> HTTPHeaders? {
        if place == .boundary {
            place = .content
            try await fill()
        }
        while place != .head, place != .epilogue { _ = try await nextContent(untilBoundary: false) }
        guard place == .head else {
            try await passOverEpilogue()
            return nil
        }
        partCount += 1
        let head = try await readHead()
        place = .content
        isAtLineStart = true
        let type = head[.contentType] ?? ""
        isJSON = type.hasASCIIPrefix("application/json") || type.hasASCIIPrefix("application/graphql-response+json")
        return head
    }

    /// The next piece of the part's content, or of what stands before the first part; nil at its end.
    ///
    /// - Parameter untilBoundary: Whether the line of a boundary needn't have come as a whole, where what stands there must be one: servers send
    ///   it with the part before, so that this is read at once, and its end with the next.
    mutating func nextContent(untilBoundary: Bool = true) async throws -> [UInt8]? {
        guard place == .content || place == .preamble else { return nil }
        while true {
            switch find() {
            case .content(let end) where end > position:
                isAtLineStart = false
                return take(upTo: end)
            case .boundary(let end, let isLast):
                position = end
                place = isLast ? .epilogue : .head
                return nil
            case .content, .more:
                guard !isAtEnd else {
                    throw HTTPError(
                        .connectionLost, "The body ended before its last boundary, after \(partCount) parts.", phase: .answered)
                }
                if untilBoundary, isJSON, place == .content,
                    searches[0].isDelimiter(buffer[position...], isAtLineStart: isAtLineStart)
                {
                    place = .boundary
                    return nil
                }
                try await fill()
            }
        }
    }

    private mutating func find() -> BoundarySearch.Finding {
        var (next, isSure) = (buffer.count, true)
        for search in searches {
            switch search.find(in: buffer, from: position, isAtLineStart: isAtLineStart, isAtEnd: isAtEnd) {
            case .boundary(let end, let isLast):
                if searches.count > 1 { searches = [search] }
                return .boundary(end: end, isLast: isLast)
            case .content(let end): next = min(next, end)
            case .more: isSure = false
            }
        }
        return isSure ? .content(upTo: next) : .more
    }

    /// Takes a piece of the buffer, without copying it when it is the whole.
    private mutating func take(upTo end: Int) -> [UInt8] {
        defer { position = end }
        guard position == 0, end == buffer.count else { return Array(buffer[position..<end]) }
        return buffer
    }

    private mutating func fill() async throws {
        guard let chunk = try await chunks.next() else {
            isAtEnd = true
            return
        }
        buffer = position == buffer.count ? chunk : Array(buffer[position...]) + chunk
        position = 0
    }

    private mutating func readHead() async throws -> HTTPHeaders {
        var fields = HTTPHeaders.FieldBuffer()
        var left = Self.maximumHead
        while true {
            let length = try await lineLength(atMost: left)
            left -= length
            let isEmpty = try buffer.withUnsafeBytes { bytes in
                let line = UnsafeRawBufferPointer(rebasing: bytes[position..<(position + length)])
                if line.trimmed.isEmpty, line.first != 32, line.first != 9 { return true }
                guard line.isField else { throw violation("A line of the head of part \(partCount) is no field.") }
                fields.append(line: line)
                return false
            }
            position += length
            if isEmpty { return HTTPHeaders(fields) }
        }
    }

    /// The length of the line that begins here, its end included, which is waited for.
    private mutating func lineLength(atMost limit: Int) async throws -> Int {
        var seen = 0
        while true {
            let found = buffer[(position + seen)...].withUnsafeBufferPointer { bytes -> Int? in
                guard let base = bytes.baseAddress, let end = memchr(base, 10, bytes.count) else { return nil }
                return UnsafeRawPointer(end) - UnsafeRawPointer(base) + 1
            }
            let length = seen + (found ?? 0)
            seen = buffer.count - position
            guard (found == nil ? seen : length) <= limit else {
                throw violation("The head of part \(partCount) has more than \(Self.maximumHead) bytes.")
            }
            if found != nil { return length }
            guard !isAtEnd else {
                throw HTTPError(.connectionLost, "The body ended in the head of part \(partCount).", phase: .answered)
            }
            try await fill()
        }
    }

    /// Reads on to the end of the body, since nothing behind the last boundary counts. Not before another part is read: the last
    /// one ends where its boundary stands, however long the body goes on.
    private mutating func passOverEpilogue() async throws {
        var left = Self.maximumEpilogue
        while !isAtEnd {
            left -= buffer.count - position
            position = buffer.count
            if left > 0 {
                try await fill()
            } else {
                body.close()
                isAtEnd = true
            }
        }
    }

    private func violation(_ message: String) -> HTTPError {
        HTTPError(.protocolViolation, "The multipart body can't be read. \(message)", phase: .answered)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the line is a field, or continues one.
    fileprivate var isField: Bool {
        if first == 32 || first == 9 { return true }
        guard let colon = firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return self[..<colon].allSatisfy(\.isTokenCharacter)
    }
}
