internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

extension Connection {
    /// How much goes out in one frame, before a control frame has its turn: 256 KiB.
    private static let fragment = 256 << 10
    /// From what length on compressing is worth it: 1 KiB.
    private static let leastCompressed = 1 << 10

    /// Sends a message; returns when the transport has taken it.
    ///
    /// - Throws: ``HTTPError/Code/connectionLost``; `CancellationError`: nothing of the message has left then, or the socket has ended.
    func send(_ kind: WebSocketMessage.Kind, _ payload: [UInt8]) async throws {
        try await messages.enter()
        defer { messages.leave() }
        try Task.checkCancellation()
        let compressed = payload.count >= Self.leastCompressed ? deflater?.deflate(payload) : nil
        try await send(kind, compressed ?? payload, isCompressed: compressed != nil)
        state.withLock { state in
            state.metrics.messagesSent += 1
            state.metrics.bytesSent += Int64(payload.count)
        }
    }

    private func send(_ kind: WebSocketMessage.Kind, _ payload: [UInt8], isCompressed: Bool) async throws {
        var place = 0
        repeat {
            let end = min(payload.count, place + Self.fragment)
            let mask = UInt32.random(in: 0 ... .max)
            let isWhole = end == payload.count
            let head = FrameWriter.head(
                place == 0 ? kind.opcode : .continuation, length: end - place, isFinal: isWhole,
                isCompressed: isCompressed && place == 0, mask: mask)
            // A compressed message that isn't sent would be missing in the context of the next ones.
            let isBegun = place > 0 || isCompressed
            try await write(FrameWriter.append(payload, place..<end, mask: mask, to: head), endsWhenCancelled: isBegun)
            place = end
        } while place < payload.count
    }

    /// Sends a message of chunks as they come, each in a frame of its own.
    func send<Chunks: AsyncSequence>(_ kind: WebSocketMessage.Kind, chunks: Chunks) async throws where Chunks.Element == [UInt8] {
        try await messages.enter()
        defer { messages.leave() }
        var text = UTF8Check()
        var isBegun = false
        var count = 0
        do {
            for try await chunk in chunks where !chunk.isEmpty {
                guard kind != .text || chunk.withUnsafeBytes({ text.take($0) }) else { throw notText }
                try await write(frame(isBegun ? .continuation : kind.opcode, chunk, isFinal: false), endsWhenCancelled: isBegun)
                isBegun = true
                count += chunk.count
            }
            guard text.isAtBoundary else { throw notText }
            try await write(frame(isBegun ? .continuation : kind.opcode, [], isFinal: true), endsWhenCancelled: isBegun)
        } catch {
            // The rest of the message will never come, and no other one can begin.
            if isBegun { fail(WebSocketClosure(code: .goingAway, reason: "", byPeer: false), "A message was given up.") }
            throw error
        }
        state.withLock { state in
            state.metrics.messagesSent += 1
            state.metrics.bytesSent += Int64(count)
        }
    }

    private var notText: HTTPError { HTTPError(.invalidRequest, "The chunks of a text aren't UTF-8.", phase: .notSent) }

    private func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool) -> [UInt8] {
        FrameWriter.frame(opcode, payload, isFinal: isFinal, mask: .random(in: 0 ... .max))
    }

    /// - Parameter endsWhenCancelled: Whether the socket ends when the frame isn't sent because the task was cancelled.
    private func write(_ frame: [UInt8], isControl: Bool = false, endsWhenCancelled: Bool = false) async throws {
        do {
            try await frames.enter(isUrgent: isControl)
        } catch {
            if endsWhenCancelled { giveUp() }
            throw error
        }
        defer { frames.leave() }
        let isOpen = state.withLock { state in
            guard state.end == nil, isControl || state.closing == nil else { return false }
            state.metrics.wireBytesSent += Int64(frame.count)
            return true
        }
        guard isOpen else { throw failure }
        do {
            try await channel.write(frame)
        } catch let error as CancellationError {
            giveUp()
            throw error
        } catch {
            // What is received may still say why.
            if isControl { throw error }
            lose(error)
            throw failure
        }
    }

    /// A message was given up in its middle.
    private func giveUp() { fail(WebSocketClosure(code: .goingAway, reason: "", byPeer: false), "A message was given up.") }

    // MARK: Control frames

    /// Sends a control frame before any message that waits; returns at once.
    ///
    /// - Parameter sent: Resumed once it has left, or can't any more.
    func sendControl(_ opcode: Opcode, _ payload: [UInt8], then sent: Suspension<Void>? = nil) {
        let frame = Controls.Frame(bytes: frame(opcode, payload, isFinal: true), isPong: opcode == .pong, sent: sent)
        guard state.withLock({ $0.controls.append(frame) }) else { return }
        CallersExecutor().start { [self] in
            while let next = state.withLock({ $0.controls.next() }) {
                try? await write(next.bytes, isControl: true)
                next.sent?.resume()
            }
        }
    }
}

/// Control frames that wait to be sent. Part of a connection's state.
struct Controls {
    struct Frame {
        let bytes: [UInt8]
        let isPong: Bool
        let sent: Suspension<Void>?
    }

    /// How many pongs wait at most; of more only the last ones are sent (RFC 6455 §5.5.3).
    private static let mostPongs = 16

    private var frames: [Frame] = []
    private var isBeingSent = false

    /// True when somebody has to begin to send them.
    mutating func append(_ frame: Frame) -> Bool {
        if frame.isPong, frames.count(where: \.isPong) >= Self.mostPongs, let oldest = frames.firstIndex(where: \.isPong) {
            frames.remove(at: oldest)
        }
        frames.append(frame)
        defer { isBeingSent = true }
        return !isBeingSent
    }

    mutating func next() -> Frame? {
        isBeingSent = !frames.isEmpty
        return frames.isEmpty ? nil : frames.removeFirst()
    }
}

extension WebSocketMessage.Kind {
    fileprivate var opcode: Opcode {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }
}
