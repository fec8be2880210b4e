import Foundation
import Midstream
import MidstreamWebSocket

/// A socket whose texts are lines: those of the input are sent, and what comes is printed (`midst ws`).
struct Conversation {
    let socket: WebSocketTask
    let showsTrace: Bool
    var input = FileHandle.standardInput

    /// Runs until one side closes; this one does at the input's end, once what was sent before has been seen by the server.
    ///
    /// - Throws: Why the rest of the input couldn't be read, too; what stood before that has been sent. ``HTTPError/Code/timeout`` when nobody
    ///   is there any more; ``HTTPError/Code/connectionLost`` also when the server closes in order, and some of the input hasn't been sent.
    func run() async throws -> Int32 {
        let socket = try await socket.connect()
        if showsTrace { Terminal.printError("\(socket.response.trace)") }
        let (isWriting, isClosed) = (Locked(false), Locked(false))
        let lines = HTTPBody.once(InputChunks(file: input) { isClosed.withLock { $0 } }).lineBytes()
        let failure = Locked<(any Error)?>(nil)
        let sending = Task {
            do {
                for try await line in lines {
                    guard let text = String(bytes: line, encoding: .utf8) else {
                        throw RunFailure("a line of the input isn't text in UTF-8, and what follows isn't sent")
                    }
                    try await socket.send(text)
                }
            } catch let error where !(error is CancellationError) {
                failure.withLock { $0 = error }
            }
            let isAnswered = try await Self.awaitPong(of: socket, isWriting)
            let received = socket.metrics.wireBytesReceived
            try await socket.close()
            // Nobody may have seen what was sent.
            if !isAnswered, socket.metrics.wireBytesReceived == received {
                let error = HTTPError(.timeout, "The server answers neither a ping nor the closing.", phase: .maybeProcessed)
                failure.withLock { $0 = $0 ?? error }
            }
        }
        defer { sending.cancel() }
        for try await message in socket {
            isWriting.withLock { $0 = true }
            defer { isWriting.withLock { $0 = false } }
            switch message {
            case .text(let text): try Terminal.print(text)
            case .binary(let bytes): try Terminal.put(bytes, into: STDOUT_FILENO)
            }
        }
        // Of an input that goes on, what is there already is missed by the server; what comes later isn't waited for.
        isClosed.withLock { $0 = true }
        _ = await sending.result
        guard let failure = failure.withLock({ $0 }) else {
            if let breakage = socket.breakage { throw breakage }
            return 0
        }
        guard (failure as? HTTPError)?.code == .connectionLost else { throw failure }
        // A send's, of which the reader of a socket that was closed in order is told nothing.
        let line = socket.metrics.messagesSent + 1
        throw HTTPError(
            .connectionLost, "The server has closed the socket, and the input from line \(line) on wasn't sent.",
            underlying: socket.closure, phase: .maybeProcessed)
    }

    /// Waits until the server has answered a ping, or leaves it unanswered, and tells which.
    ///
    /// - Parameter isWriting: Whether the output takes its time: no pong is read then, as behind a message that is still coming.
    private static func awaitPong(of socket: WebSocket, _ isWriting: Locked<Bool>) async throws -> Bool {
        while true {
            let received = socket.metrics.wireBytesReceived
            do {
                try await socket.ping()
                return true
            } catch let error as HTTPError where error.code == .timeout {
                guard isWriting.withLock({ $0 }) || socket.metrics.wireBytesReceived > received else { return false }
            }
        }
    }
}
