internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

extension Connection {
    /// From what length on compressing is worth it: 1 KiB.
    private static let leastCompressed = 1 << 10

    /// Sends a message; returns when the transport has taken it.
    ///
    /// - Throws: ``HTTPError/Code/connectionLost``; `CancellationError`: nothing of the message has left then, or the socket has ended or is
    ///   being closed.
    nonisolated(nonsending) func send(_ kind: WebSocketMessage.Kind, _ payload: [UInt8]) async throws {
        try await begin()
        defer { messages.leave() }
        try Task.checkCancellation()
        let compressed = payload.count >= Self.leastCompressed ? deflater?.deflate(payload) : nil
        let isCompressed = compressed != nil
        let bytes = compressed ?? payload
        var place = 0
        repeat {
            let end = place + min(bytes.count - place, max(1, options.maximumFrame))
            let part = frame(
                place == 0 ? kind.opcode : .continuation, bytes, place..<end, isFinal: end == bytes.count,
                isCompressed: isCompressed && place == 0)
            // A compressed message that isn't sent would be missing in the context of the next ones.
            try await write(part, endsWhenCancelled: place > 0 || isCompressed)
            place = end
        } while place < bytes.count
        state.withLock { state in
            state.metrics.messagesSent += 1
            state.metrics.bytesSent += Int64(payload.count)
        }
    }

    /// Sends a message of chunks as they come, each in a frame of its own.
    func send<Chunks: AsyncSequence>(_ kind: WebSocketMessage.Kind, chunks: Chunks) async throws where Chunks.Element == [UInt8] {
        try await begin()
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
            // A stream whose reader is cancelled ends as if it were whole.
            try Task.checkCancellation()
            guard text.isAtBoundary else { throw notText }
            try await write(frame(isBegun ? .continuation : kind.opcode, [], isFinal: true), endsWhenCancelled: isBegun)
        } catch {
            // The rest of the message will never come, and no other one can begin.
            if isBegun { giveUp() }
            throw error
        }
        state.withLock { state in
            state.metrics.messagesSent += 1
            state.metrics.bytesSent += Int64(count)
        }
    }

    /// Waits for a message's turn. The one before it may wait for chunks that never come, also when the socket has ended.
    nonisolated(nonsending) private func begin() async throws {
        do { try await messages.enter() } catch is Turnstile.Closed { throw failure }
    }

    private var notText: HTTPError {
        HTTPError(.invalidRequest, "The chunks of a text aren't UTF-8.", request: request, phase: .notSent)
    }

    private func frame(
        _ opcode: Opcode, _ payload: [UInt8], _ range: Range<Int>? = nil, isFinal: Bool, isCompressed: Bool = false
    ) -> [UInt8] {
        FrameWriter.frame(
            opcode, payload, range, isFinal: isFinal, isCompressed: isCompressed, mask: state.withLock { $0.masks.next() })
    }

    /// Writes a frame of a message, after the control frames that wait.
    nonisolated(nonsending) private func write(_ frame: [UInt8], endsWhenCancelled: Bool) async throws {
        do {
            try await frames.enter()
        } catch {
            if endsWhenCancelled { giveUp() }
            throw error
        }
        defer { frames.leave() }
        // A cancelled write closes the channel, and nothing of the message has left yet.
        if !endsWhenCancelled { try Task.checkCancellation() }
        let controls = state.withLock { state -> [[UInt8]]? in
            guard state.end == nil, state.closing == nil else { return nil }
            let controls = state.controls.takeAll()
            state.metrics.wireBytesSent += Int64(controls.reduce(frame.count) { $0 + $1.count })
            return controls
        }
        guard let controls else { throw failure }
        do {
            try await channel.write(controls.isEmpty ? frame : controls.joined() + frame)
        } catch let error as CancellationError {
            giveUp()
            throw error
        } catch {
            // What was received before is still read, by a reader who is behind as well, and may say why.
            state.withLock { state in
                state.closing = state.closing ?? lost(by: error)
                state.isBroken = true
            }
            throw failure
        }
    }

    /// A message was given up in its middle. A closing that has begun allows that, and ends the socket by itself.
    private func giveUp() {
        guard state.withLock({ $0.closing == nil }) else { return }
        end(lost(WebSocketClosure(code: .goingAway, byPeer: false), "A message was given up."))
    }

    // MARK: Control frames

    /// Sends a control frame before any message that waits; returns at once. `sent` is resumed once it has left, or can't any more.
    func sendControl(_ opcode: Opcode, _ payload: [UInt8], then sent: Suspension<Void>? = nil) {
        let frame = Controls.Frame(bytes: frame(opcode, payload, isFinal: true), opcode: opcode, sent: sent)
        guard state.withLock({ $0.controls.append(frame) }) else { return }
        // Other senders' frames may follow in this task.
        _ = CallersExecutor().startDetached { [self] in
            while await sendNextControl() {}
        }
    }

    /// Takes a frame only when its turn has come: until then a message may take it along. False when there was none.
    private func sendNextControl() async -> Bool {
        // Nobody cancels this task.
        try? await frames.enter(isUrgent: true)
        defer { frames.leave() }
        let (next, isOpen) = state.withLock { state in
            let next = state.controls.next()
            if let next, state.end == nil { state.metrics.wireBytesSent += Int64(next.bytes.count) }
            return (next, state.end == nil)
        }
        guard let next else { return false }
        if isOpen { try? await channel.write(next.bytes) }
        if let sent = next.sent {
            // What closes the connection then would take along what has only been handed over.
            await channel.finish()
            sent.resume()
        }
        return true
    }
}

/// Control frames that wait to be sent. Part of a connection's state.
struct Controls {
    struct Frame {
        let bytes: [UInt8]
        let opcode: Opcode
        let sent: Suspension<Void>?

        var isPong: Bool { opcode == .pong }
    }

    /// How many pongs wait at most; of more only the last ones are sent (RFC 6455 §5.5.3).
    private static let mostPongs = 16

    private var frames: [Frame] = []
    private var isBeingSent = false

    /// How many frames have had their turn.
    private(set) var turns = 0

    var hasPing: Bool { frames.contains { $0.opcode == .ping } }

    /// True when somebody has to begin to send them.
    mutating func append(_ frame: Frame) -> Bool {
        if frame.isPong, frames.count(where: \.isPong) >= Self.mostPongs, let oldest = frames.firstIndex(where: \.isPong) {
            frames.remove(at: oldest)
        }
        frames.append(frame)
        defer { isBeingSent = true }
        return !isBeingSent
    }

    /// The bytes of all. No close frame is among them while a message may be sent, and so nobody waits for one of them.
    mutating func takeAll() -> [[UInt8]] {
        defer { frames.removeAll() }
        turns += frames.count
        return frames.map(\.bytes)
    }

    mutating func next() -> Frame? {
        isBeingSent = !frames.isEmpty
        guard isBeingSent else { return nil }
        turns += 1
        return frames.removeFirst()
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
