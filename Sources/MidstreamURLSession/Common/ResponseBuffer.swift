internal import Interception

/// Bytes that have arrived and haven't been read, in the pieces in which they came.
struct ResponseBuffer {
    private var chunks = Queue<[UInt8]>()
    /// How many of the bytes are in memory.
    private(set) var byteCount = 0
    #if canImport(FoundationNetworking)
        /// What came when the memory was full, after everything that is there: a ring, so that it grows no larger than what waits.
        private var overflow: TemporaryFile?
        /// How many bytes have been read from it and written to it; their places are these modulo its size.
        private var readOffset: Int64 = 0
        private var writeOffset: Int64 = 0
        private let fileLimit: Int64
    #endif

    /// - Parameter fileLimit: How many bytes may wait in a file, where there is one.
    init(fileLimit: Int64) {
        #if canImport(FoundationNetworking)
            self.fileLimit = max(0, fileLimit)
        #endif
    }

    mutating func append(_ chunk: [UInt8]) {
        chunks.append(chunk)
        byteCount += chunk.count
    }

    /// Adds to the one piece that there is, for a body that is wanted as a whole.
    mutating func gather(_ chunk: [UInt8]) {
        if var whole = chunks.popFirst() {
            whole += chunk
            chunks.append(whole)
        } else {
            chunks.append(chunk)
        }
        byteCount += chunk.count
    }

    private mutating func popFirstInMemory() -> [UInt8]? {
        guard let chunk = chunks.popFirst() else { return nil }
        byteCount -= chunk.count
        return chunk
    }

    /// Takes out what ``gather(_:)`` put together.
    mutating func popAll() -> [UInt8] { popFirstInMemory() ?? [] }

    #if canImport(FoundationNetworking)
        private static let fileChunk: Int64 = 128 << 10

        var isEmpty: Bool { byteCount == 0 && readOffset == writeOffset }

        /// Adds in memory up to the limit and in a file past it: on Linux nothing can make the sender wait. False, and nothing is
        /// kept, when neither has room.
        mutating func append(_ chunk: [UInt8], memoryLimit: Int) throws -> Bool {
            if readOffset == writeOffset, byteCount + chunk.count <= memoryLimit {
                append(chunk)
                return true
            }
            guard writeOffset - readOffset + Int64(chunk.count) <= fileLimit else { return false }
            let file = try overflow ?? TemporaryFile(isNamed: false)
            overflow = file
            let place = writeOffset % fileLimit
            let head = Int(min(Int64(chunk.count), fileLimit - place))
            try file.write(chunk[..<head], at: place)
            try file.write(chunk[head...], at: 0)
            writeOffset += Int64(chunk.count)
            return true
        }

        mutating func popFirst() throws -> [UInt8]? {
            if let chunk = popFirstInMemory() { return chunk }
            guard let overflow, readOffset < writeOffset else { return nil }
            let place = readOffset % fileLimit
            let chunk = try overflow.read(Int(min(Self.fileChunk, writeOffset - readOffset, fileLimit - place)), at: place)
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
