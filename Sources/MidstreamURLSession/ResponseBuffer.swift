/// Bytes that have arrived and haven't been read, in the pieces in which they came.
struct ResponseBuffer {
    private var chunks: [[UInt8]] = []
    private var first = 0
    /// How many of the bytes are in memory.
    private(set) var byteCount = 0
    #if canImport(FoundationNetworking)
        /// What came when the memory was full, after everything that is there.
        private var overflow: TemporaryFile?
        private var readOffset: Int64 = 0
        private var writeOffset: Int64 = 0
    #endif

    mutating func append(_ chunk: [UInt8]) {
        chunks.append(chunk)
        byteCount += chunk.count
    }

    /// Adds to the one piece that there is, for a body that is wanted as a whole.
    mutating func gather(_ chunk: [UInt8]) {
        if chunks.isEmpty { chunks.append(chunk) } else { chunks[0] += chunk }
        byteCount += chunk.count
    }

    private mutating func popFirstInMemory() -> [UInt8]? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        chunks[first] = []
        first += 1
        byteCount -= chunk.count
        if first == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 64, first * 2 >= chunks.count {
            chunks.removeFirst(first)
            first = 0
        }
        return chunk
    }

    /// Takes out what ``gather(_:)`` put together.
    mutating func popAll() -> [UInt8] { popFirstInMemory() ?? [] }

    #if canImport(FoundationNetworking)
        private static let fileChunk: Int64 = 128 << 10

        var isEmpty: Bool { byteCount == 0 && readOffset == writeOffset }

        /// Adds in memory up to the limit and in a file past it: on Linux nothing can make the sender wait.
        mutating func append(_ chunk: [UInt8], memoryLimit: Int) throws {
            if readOffset == writeOffset, byteCount + chunk.count <= memoryLimit { return append(chunk) }
            let file = try overflow ?? TemporaryFile(isNamed: false)
            overflow = file
            try file.write(chunk, at: writeOffset)
            writeOffset += Int64(chunk.count)
        }

        mutating func popFirst() throws -> [UInt8]? {
            if let chunk = popFirstInMemory() { return chunk }
            guard let overflow, readOffset < writeOffset else { return nil }
            let chunk = try overflow.read(Int(min(Self.fileChunk, writeOffset - readOffset)), at: readOffset)
            readOffset += Int64(chunk.count)
            if readOffset == writeOffset {
                (readOffset, writeOffset) = (0, 0)
                overflow.clear()
            }
            return chunk
        }
    #else
        var isEmpty: Bool { byteCount == 0 }

        mutating func popFirst() throws -> [UInt8]? { popFirstInMemory() }
    #endif
}
