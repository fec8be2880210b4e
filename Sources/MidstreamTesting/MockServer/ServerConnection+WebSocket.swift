internal import Interception
internal import LoopbackServer
internal import MidstreamCore

extension ServerConnection {
    /// Agrees to an upgrade, if nothing is to go wrong with that, and serves the socket until the connection ends.
    func serve(_ script: SocketScript, _ response: MockServer.Response, to head: RequestHead) throws -> ConnectionFate {
        let (fields, deflate) = script.agreement(to: head.headers, with: response.headers)
        var response = response
        response.headers = fields
        var writer = ResponseWriter(response, to: head, on: self)
        let fate = try writer.write()
        guard fate == .upgraded else { return fate }
        let channel = SocketChannel(socket)
        let task = Task.detached {
            await script.run(on: channel, deflate)
            channel.endSending()
        }
        defer {
            channel.incoming.end()
            task.cancel()
        }
        try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { room in
            while true {
                let count = try socket.receive(into: room)
                guard count > 0 else { return }
                // Also the last bytes of a client that has left: waiting ends with that.
                guard let taken = try channel.incoming.put(Array(room[..<count])) else { continue }
                try wait { _ = await taken.wait() }
            }
        }
        return .over
    }
}

/// A connection of a server, which its thread receives on.
final class SocketChannel: ByteChannel {
    let incoming = MemoryPipe()
    private let socket: Socket
    /// One write at a time, in the order in which they came: the rest of a frame mustn't come behind the beginning of another.
    private let writing = Locked((isUnderWay: false, next: [Suspension<Void>]()))

    init(_ socket: Socket) { self.socket = socket }

    func read() async throws -> [UInt8]? { try await incoming.read() }

    /// Takes part in the order also when the task is cancelled: what is compressed refers to what was written before.
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        let turn = Suspension<Void>()
        let waits = writing.withLock { writing in
            if writing.isUnderWay { writing.next.append(turn) }
            defer { writing.isUnderWay = true }
            return writing.isUnderWay
        }
        if waits { await turn.value() }
        defer { endWrite() }
        let sent = try bytes.withUnsafeBytes { try socket.sendAtOnce($0) }
        guard sent < bytes.count else { return }
        // A client that is in no hurry mustn't hold up a thread of the tasks.
        try await withCheckedThrowingContinuation { (writer: CheckedContinuation<Void, any Error>) in
            let isStarted = ServerThread.start { [socket] in
                writer.resume(
                    with: Result { try bytes.withUnsafeBytes { try socket.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) } })
            }
            if !isStarted { writer.resume(throwing: ConnectionEnded()) }
        }
    }

    private func endWrite() {
        let next = writing.withLock { writing -> Suspension<Void>? in
            writing.isUnderWay = !writing.next.isEmpty
            return writing.isUnderWay ? writing.next.removeFirst() : nil
        }
        next?.resume()
    }

    func endSending() { socket.endSending() }

    func close() {
        incoming.end()
        socket.interrupt()
    }
}
