internal import MidstreamCore

/// Reads a body as a JSON text sequence (RFC 7464): each text begins with RS and ends with LF.
///
/// A text is handed out as soon as its LF is there, which may be long before the next begins.
struct JSONRecordReader {
    /// A text, or what stands in the place of one.
    struct Record {
        var bytes: [UInt8] = []
        /// From 1.
        var number = 0
        /// Of its first byte behind the RS, in bytes of the body.
        var offset: Int64 = 0
        /// Whether it can be a whole text: not cut off (RFC 7464 §2.4), with nothing behind it.
        var isWhole = true
    }

    private enum Part {
        /// Before the first RS, where nothing may be.
        case preface
        case text
        /// Behind a text that has been handed out.
        case rest
    }

    private let body: HTTPBody
    private var chunks: HTTPBody.AsyncIterator
    private let limit: Int
    private var chunk: [UInt8] = []
    private var position = 0
    /// Of the chunk.
    private var chunkOffset: Int64 = 0
    private var part = Part.preface
    private var record = Record()
    private var shape = JSONShape()
    private var isOver = false

    init(_ body: HTTPBody, limit: Int) {
        self.body = body.fromStart
        self.limit = max(0, limit)
        chunks = self.body.makeAsyncIterator()
    }

    /// The next text; nil at the end. An error ends the reading and closes the body.
    nonisolated(nonsending) mutating func next() async throws -> Record? {
        if isOver { return nil }
        do {
            while true {
                if let record = try nextInChunk() { return record }
                chunkOffset += Int64(chunk.count)
                guard let next = try await chunks.next(isolation: #isolation) else { break }
                chunk = next
                position = 0
            }
            isOver = true
            return take()
        } catch {
            fail()
            throw error
        }
    }

    /// Gives up the rest of the body.
    mutating func fail() {
        isOver = true
        body.close()
    }

    private mutating func nextInChunk() throws -> Record? {
        while position < chunk.count {
            let byte = chunk[position]
            position += 1
            if byte == 0x1E {
                let ended = take()
                begin()
                if let ended { return ended }
                continue
            }
            if part == .rest || part == .preface, byte.isJSONSpace { continue }
            guard record.bytes.count < limit else { throw HTTPError.tooLarge(limit: limit) }
            record.bytes.append(byte)
            if part == .text {
                shape.add(byte)
                if byte == 10, shape.isClosed, let whole = take() { return whole }
            }
        }
        return nil
    }

    private mutating func begin() {
        part = .text
        shape = JSONShape()
        record = Record(number: record.number, offset: chunkOffset + Int64(position))
    }

    /// Hands out what has been collected; nil when that is nothing but space.
    private mutating func take() -> Record? {
        guard !record.bytes.allSatisfy(\.isJSONSpace) else { return nil }
        var taken = record
        taken.number += 1
        taken.isWhole = part == .text && shape.isClosed && (shape.isSelfDelimited || taken.bytes.last?.isJSONSpace == true)
        record = Record(number: taken.number, offset: chunkOffset + Int64(position))
        part = .rest
        return taken
    }
}

/// Follows a JSON text byte by byte, as far as it takes to see where it ends.
private struct JSONShape {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var first: UInt8?
    /// Whether something has come and all that was opened is closed.
    var isClosed: Bool { first != nil && depth == 0 && !isInString }
    /// Whether the text shows by itself that none of it is missing, as a number doesn't.
    var isSelfDelimited: Bool {
        first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
    }

    mutating func add(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        if first == nil, !byte.isJSONSpace { first = byte }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
}
