internal import Interception
internal import MidstreamCore

/// Bytes on their way in one direction, 64 KiB of them at most and one piece more.
final class MemoryPipe: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isOver = false
        var reader: Suspension<Void>?
        var writers: [Suspension<Void>] = []
    }

    private static let limit = 64 << 10

    private let state = Locked(State())

    /// All that has come; nil at the end.
    func read() async throws -> [UInt8]? {
        while true {
            let waiter = Suspension<Void>()
            let (bytes, isOver, writers) = state.withLock { state in
                let taken = (state.bytes, state.isOver, state.writers)
                (state.bytes, state.writers) = ([], [])
                if taken.0.isEmpty, !taken.1 { state.reader = waiter }
                return taken
            }
            for writer in writers { writer.resume() }
            if !bytes.isEmpty { return bytes }
            if isOver { return nil }
            if case .cancelled = await waiter.wait() { throw CancellationError() }
        }
    }

    /// Returns when there is room for more.
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        if let room = try put(bytes), case .cancelled = await room.wait() { throw CancellationError() }
    }

    /// Takes bytes; gives what to wait for before the next ones, if anything.
    func put(_ bytes: [UInt8]) throws -> Suspension<Void>? {
        let waiter = Suspension<Void>()
        let (reader, isFull) = try state.withLock { state in
            guard !state.isOver else { throw HTTPError(.connectionLost, "The connection is closed.", phase: .answered) }
            state.bytes += bytes
            let isFull = state.bytes.count >= Self.limit
            if isFull { state.writers.append(waiter) }
            defer { state.reader = nil }
            return (state.reader, isFull)
        }
        reader?.resume()
        return isFull ? waiter : nil
    }

    /// Nothing more comes; what has come can still be read.
    func end() {
        let ended = state.withLock { state in
            state.isOver = true
            defer { (state.reader, state.writers) = (nil, []) }
            return state
        }
        ended.reader?.resume()
        for writer in ended.writers { writer.resume() }
    }
}

/// One end of a connection in memory.
final class MemoryChannel: ByteChannel, ByteWriter {
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    private init(_ incoming: MemoryPipe, _ outgoing: MemoryPipe) {
        self.incoming = incoming
        self.outgoing = outgoing
    }

    deinit { close() }

    static func pair() -> (MemoryChannel, MemoryChannel) {
        let (first, second) = (MemoryPipe(), MemoryPipe())
        return (MemoryChannel(first, second), MemoryChannel(second, first))
    }

    func read() async throws -> [UInt8]? { try await incoming.read() }
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws { try await outgoing.write(bytes) }
    func endSending() { outgoing.end() }

    func close() {
        incoming.end()
        outgoing.end()
    }
}
