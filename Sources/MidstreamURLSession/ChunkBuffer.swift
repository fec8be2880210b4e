/// Bytes that have arrived and haven't been read, in the pieces in which they came.
struct ChunkBuffer {
    private var chunks: [[UInt8]] = []
    private var first = 0
    private(set) var byteCount = 0

    mutating func append(_ chunk: [UInt8]) {
        chunks.append(chunk)
        byteCount += chunk.count
    }

    /// Adds to the one piece that there is, for a body that is wanted as a whole.
    mutating func gather(_ chunk: [UInt8]) {
        if chunks.isEmpty { chunks.append(chunk) } else { chunks[0] += chunk }
        byteCount += chunk.count
    }

    mutating func popFirst() -> [UInt8]? {
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
    mutating func popAll() -> [UInt8] { popFirst() ?? [] }
}
