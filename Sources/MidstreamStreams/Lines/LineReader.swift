internal import MidstreamCore
internal import MidstreamPlatform

/// Reads a body in lines. They end with LF or CRLF; the last needs no end. A byte order mark at the beginning is dropped.
struct LineReader {
    /// Where a line is in the body.
    struct Place: Sendable {
        /// From 1, empty lines included.
        var number = 0
        /// In bytes of the body, from its beginning.
        var offset: Int64 = 0
    }

    /// Of the line that was read last.
    private(set) var place = Place()
    private let body: HTTPBody
    private var chunks: HTTPBody.AsyncIterator
    private let limit: Int
    private var chunk: [UInt8] = []
    private var position = 0
    /// The beginning of a line, from the chunks before this one.
    private var beginning: [UInt8] = []
    private var nextOffset: Int64 = 0
    private var isOver = false

    init(_ body: HTTPBody, limit: Int) {
        self.body = body.fromStart
        self.limit = max(0, limit)
        chunks = self.body.makeAsyncIterator()
    }

    /// What `read` makes of the next line; nil at the end. An error ends the reading and closes the body.
    nonisolated(nonsending)
        mutating func next<Line>(_ read: (UnsafeBufferPointer<UInt8>) throws -> Line) async throws -> Line?
    {
        while true {
            if let line = try lineAtHand(read) { return line }
            guard !isOver else { return nil }
            do {
                if let next = try await chunks.next(isolation: #isolation) {
                    (chunk, position) = (next, 0)
                } else {
                    isOver = true
                }
            } catch {
                fail()
                throw error
            }
        }
    }

    /// What `read` makes of the next line as far as nothing has to be waited for; nil otherwise, and at the end.
    mutating func lineAtHand<Line>(_ read: (UnsafeBufferPointer<UInt8>) throws -> Line) throws -> Line? {
        do {
            if position < chunk.count { return try nextInChunk(read) }
            return isOver && !beginning.isEmpty ? try takeBeginning(endLength: 0, read) : nil
        } catch {
            fail()
            throw error
        }
    }

    /// Gives up the rest of the body.
    mutating func fail() {
        isOver = true
        (chunk, beginning) = ([], [])
        body.close()
    }

    /// The next line if its end is in the chunk; otherwise the rest of the chunk is kept as its beginning.
    private mutating func nextInChunk<Line>(_ read: (UnsafeBufferPointer<UInt8>) throws -> Line) throws -> Line? {
        let start = position
        let end = chunk.withUnsafeBufferPointer { bytes -> Int? in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 10, bytes.count - start) else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
        guard let end else {
            // With a CR it may have one byte more than it is long.
            guard chunk.count - start - 1 <= limit - beginning.count else { throw HTTPError.tooLarge(limit: limit) }
            beginning += chunk[start...]
            position = chunk.count
            return nil
        }
        position = end + 1
        guard beginning.isEmpty else {
            guard end - start - 1 <= limit - beginning.count else { throw HTTPError.tooLarge(limit: limit) }
            beginning += chunk[start..<end]
            return try takeBeginning(endLength: 1, read)
        }
        advance(by: end - start + 1)
        let (limit, isFirst) = (limit, place.number == 1)
        // Not by way of the reader, which would be copied for it.
        return try chunk.withUnsafeBufferPointer {
            try Self.line(UnsafeBufferPointer(rebasing: $0[start..<end]), limit, isFirst: isFirst, read)
        }
    }

    private mutating func takeBeginning<Line>(
        endLength: Int, _ read: (UnsafeBufferPointer<UInt8>) throws -> Line
    ) throws -> Line {
        advance(by: beginning.count + endLength)
        defer { beginning.removeAll(keepingCapacity: beginning.count <= 64 << 10) }
        let (limit, isFirst) = (limit, place.number == 1)
        return try beginning.withUnsafeBufferPointer { try Self.line($0, limit, isFirst: isFirst, read) }
    }

    private mutating func advance(by count: Int) {
        place.number += 1
        place.offset = nextOffset
        nextOffset += Int64(count)
    }

    @inline(__always)
    private static func line<Line>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int, isFirst: Bool, _ read: (UnsafeBufferPointer<UInt8>) throws -> Line
    ) throws -> Line {
        var bytes = bytes
        if bytes.last == 13 { bytes = UnsafeBufferPointer(rebasing: bytes.dropLast()) }
        guard bytes.count <= limit else { throw HTTPError.tooLarge(limit: limit) }
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(3))
        }
        return try read(bytes)
    }
}
