internal import WebSocketFrames

/// A socket whose frames are the system's business: it sends and receives messages.
protocol MessageSocket: Sendable {
    /// Sends a message; returns when the system has taken it.
    func send(_ message: SocketMessage) async throws

    /// The next message. Called again only after the last one has come.
    ///
    /// - Throws: When the socket has ended.
    func receive() async throws -> SocketMessage

    /// Returns when the other side has answered a ping.
    func ping() async throws

    /// Sends a close frame; harmless when repeated.
    func close(_ frame: CloseFrame)

    /// Ends the socket without a word; harmless when repeated.
    func abandon()

    /// With what the other side has closed the socket; nil: it hasn't.
    var closure: CloseFrame? { get }
}

enum SocketMessage: Sendable, Equatable {
    case text(String)
    case binary([UInt8])
}
