internal import Interception

/// What has come and hasn't been read, and how the socket has ended. Part of a connection's state.
struct Inbox {
    /// How much waits for its reader: 256 KiB, of which the connection may have taken half before the messages are whole.
    private static let limit = 256 << 10
    /// What a message takes beside its bytes.
    private static let overhead = 64

    private var messages = Queue<WebSocketMessage>()
    private var size = 0
    /// Nothing waits for the reader any more: what it has no room for is dropped.
    private var isClosed = false
    /// Something was dropped, and so is what follows it: what is read has no gap.
    private var isCut = false
    /// Waits for a message, or the end.
    var reader: Suspension<Void>?
    /// Waits for room.
    var receiver: Suspension<Void>?

    /// How much more may wait; the last message may be larger.
    var room: Int { (isClosed ? Self.limit : Self.limit / 2) - size }
    var isFull: Bool { room <= 0 && !isClosed }
    /// Whether it is worth receiving again after it was full: not for each short message that is read.
    var hasRoomAgain: Bool { room >= Self.limit / 8 }

    /// What a message takes.
    static func room(for message: WebSocketMessage) -> Int { message.size + overhead }

    mutating func append(_ message: WebSocketMessage) {
        if isClosed, room <= 0 { isCut = true }
        guard !isCut else { return }
        messages.append(message)
        size += Self.room(for: message)
    }

    mutating func next() -> WebSocketMessage? {
        guard let message = messages.popFirst() else { return nil }
        size -= Self.room(for: message)
        return message
    }

    mutating func close() { isClosed = true }
}
