import Foundation
import Midstream
import MidstreamWebSocket

/// A socket whose texts are lines: those of the input are sent, and what comes is printed (`midst ws`).
struct Conversation {
    let socket: WebSocketTask
    let showsTrace: Bool

    /// Runs until one side closes; this one does at the input's end, once what was sent before has been seen by the server.
    ///
    /// - Throws: Why the rest of the input couldn't be read, too; what stood before that has been sent.
    func run() async throws -> Int32 {
        let socket = try await socket.connect()
        if showsTrace { Terminal.printError("\(socket.response.trace)") }
        let failure = Locked<(any Error)?>(nil)
        let sending = Task {
            do {
                for try await line in HTTPBody.once(InputChunks(.standardInput)).lines() { try await socket.send(line) }
            } catch let error where (error as? HTTPError)?.code != .connectionLost && !(error is CancellationError) {
                // It isn't the socket's, whose end is told to those who read it.
                failure.withLock { $0 = error }
            }
            try await socket.ping()
            try await socket.close()
        }
        defer { sending.cancel() }
        for try await message in socket {
            switch message {
            case .text(let text): try Terminal.print(text)
            case .binary(let bytes): try Terminal.put(bytes, into: STDOUT_FILENO)
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        return 0
    }
}
