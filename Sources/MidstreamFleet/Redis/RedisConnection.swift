internal import Interception
internal import MidstreamCore

/// One connection to Redis: commands go out in the order in which they are sent, and replies come in the same order.
///
/// A reply that nobody waits for any more is dropped when it comes.
final class RedisConnection: Sendable {
    typealias Reply = Suspension<Answer<RESPValue>>

    private struct State {
        var outgoing: [UInt8] = []
        var isWriting = false
        /// Of the commands that have been sent, the oldest first.
        var awaited: [Reply] = []
        var end: StoreFailure?
    }

    /// What may wait to be written, and how many replies may be awaited.
    private static let mostBytes = 32 << 20
    private static let mostAwaited = 100_000

    private let channel: any ByteChannel
    private let onMessage: (@Sendable ([RESPValue]) -> Void)?
    private let onEnd: @Sendable (StoreFailure) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - onMessage: Called for what comes unasked after a subscription.
    ///   - onEnd: Called once, when the connection is lost or a reply makes no sense; not after ``close()``.
    init(
        _ channel: any ByteChannel, onMessage: (@Sendable ([RESPValue]) -> Void)? = nil,
        onEnd: @escaping @Sendable (StoreFailure) -> Void
    ) {
        self.channel = channel
        self.onMessage = onMessage
        self.onEnd = onEnd
    }

    deinit { channel.close() }

    /// Begins to read. Holds the connection only while bytes are handled.
    func start() {
        Task.detached { [weak self, channel] in
            var reader = RESPReader()
            do {
                while let bytes = try await channel.read() {
                    reader.append(bytes)
                    var values: [RESPValue] = []
                    while let value = try reader.next() { values.append(value) }
                    guard let self else { return }
                    guard self.take(values) else { throw RESPReader.Malformed(reason: "a reply to nothing") }
                }
                self?.end(.unreachable("the server closed the connection"))
            } catch let error as RESPReader.Malformed {
                self?.end(.unreachable("the server doesn't speak Redis' protocol: \(error.reason)"))
            } catch {
                self?.end(.unreachable("the connection was lost"))
            }
        }
    }

    /// Sends a command.
    ///
    /// - Parameter condition: Asked before it is sent, and before any later one is; with false it isn't.
    /// - Returns: Its reply; nil when the condition doesn't hold.
    func send(_ command: RESPCommand, if condition: () -> Bool = { true }) -> Reply? {
        let reply = Reply()
        let (failure, isFirst, isSent) = state.withLock { state -> (StoreFailure?, Bool, Bool) in
            if let end = state.end { return (end, false, true) }
            guard state.outgoing.count < Self.mostBytes, state.awaited.count < Self.mostAwaited else {
                return (.timedOut, false, true)
            }
            guard condition() else { return (nil, false, false) }
            command.append(to: &state.outgoing)
            state.awaited.append(reply)
            defer { state.isWriting = true }
            return (nil, !state.isWriting, true)
        }
        guard isSent else { return nil }
        if let failure { reply.resume(.failure(failure)) }
        if isFirst { Task.detached { [weak self, channel] in await Self.write(channel) { self?.nextBytes() } } }
        return reply
    }

    /// Closes the connection. Replies that are awaited fail.
    func close(_ reason: StoreFailure = .unreachable("the connection was closed")) { finish(reason) }

    var isOpen: Bool { state.withLock { $0.end == nil } }

    private static func write(_ channel: any ByteChannel, _ next: () -> [UInt8]?) async {
        while let bytes = next() {
            // What reads finds out what has happened.
            do { try await channel.write(bytes) } catch { return }
        }
    }

    private func nextBytes() -> [UInt8]? {
        state.withLock { state in
            guard !state.outgoing.isEmpty, state.end == nil else {
                state.isWriting = false
                return nil
            }
            let bytes = state.outgoing
            state.outgoing = []
            return bytes
        }
    }

    /// Hands values to those who wait for them; false when nobody has asked for one.
    private func take(_ values: [RESPValue]) -> Bool {
        var replies: [RESPValue] = []
        for value in values {
            if let onMessage, let parts = value.elements, let kind = parts.first?.string, ["message", "subscribe"].contains(kind)
            {
                onMessage(parts)
            } else {
                replies.append(value)
            }
        }
        guard !replies.isEmpty else { return true }
        let waiting = state.withLock { state -> [Reply] in
            let waiting = Array(state.awaited.prefix(replies.count))
            state.awaited.removeFirst(waiting.count)
            return waiting
        }
        for (reply, value) in zip(waiting, replies) { reply.resume(Self.answer(value)) }
        return waiting.count == replies.count
    }

    private static let unwilling: Set = [
        "READONLY", "OOM", "MISCONF", "LOADING", "MASTERDOWN", "NOAUTH", "NOPERM", "BUSY", "CLUSTERDOWN", "NOREPLICAS",
        "WRONGPASS",
    ]

    private static func answer(_ value: RESPValue) -> Answer<RESPValue> {
        guard case .error(let text) = value else { return .success(value) }
        // The first word is a code; what comes after it may repeat what was sent. Scripts put theirs before it.
        let code = String(text.prefix { $0.isUppercase })
        return .failure(unwilling.contains(code) ? .unwilling(code) : .refused(code.isEmpty ? "an error" : code))
    }

    private func end(_ failure: StoreFailure) {
        if finish(failure) { onEnd(failure) }
    }

    @discardableResult
    private func finish(_ failure: StoreFailure) -> Bool {
        let awaited = state.withLock { state -> [Reply]? in
            guard state.end == nil else { return nil }
            state.end = failure
            state.outgoing = []
            defer { state.awaited = [] }
            return state.awaited
        }
        channel.close()
        for reply in awaited ?? [] { reply.resume(.failure(failure)) }
        return awaited != nil
    }
}
