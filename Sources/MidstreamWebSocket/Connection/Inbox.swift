internal import Interception

/// What has come and hasn't been read, and how the socket has ended. Part of a connection's state.
struct Inbox {
    /// How much waits for its reader before nothing more is taken off the wire: 256 KiB.
    private static let limit = 256 << 10
    /// What a message takes beside its bytes.
    private static let overhead = 64

    private var messages: [WebSocketMessage] = []
    /// Those before it have been read.
    private var first = 0
    private var size = 0
    /// Nothing waits for the reader any more: what it has no room for is dropped.
    private var isClosed = false
    /// Waits for a message, or the end.
    var reader: Suspension<Void>?
    /// Waits for room.
    var receiver: Suspension<Void>?

    var isFull: Bool { size >= Self.limit && !isClosed }

    mutating func append(_ message: WebSocketMessage) {
        guard !isClosed || size < Self.limit else { return }
        messages.append(message)
        size += message.size + Self.overhead
    }

    mutating func next() -> WebSocketMessage? {
        guard first < messages.count else { return nil }
        let message = messages[first]
        messages[first] = .binary([])
        first += 1
        size -= message.size + Self.overhead
        if first == messages.count {
            messages.removeAll(keepingCapacity: first <= 64)
            first = 0
        }
        return message
    }

    mutating func close() { isClosed = true }
}
