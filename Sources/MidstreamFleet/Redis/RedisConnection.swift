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
        var awaited = Queue<Reply>()
        var end: StoreFailure?
    }

    /// What may wait to be written, and how many replies may be awaited.
    private static let mostBytes = 32 << 20
    private static let mostAwaited = 100_000

    private let channel: any ByteChannel
    private let onEnd: @Sendable (StoreFailure) -> Void
    private let onMessage: (@Sendable ([RESPValue]) -> Void)?
    private let state = Locked(State())

    /// Begins to read; the connection is held for that only while bytes are handled.
    ///
    /// - Parameters:
    ///   - onEnd: Called once, when the connection is lost or a reply makes no sense; not after ``close()``.
    ///   - onMessage: Called for what comes unasked after a subscription.
    init(
        _ channel: any ByteChannel, onEnd: @escaping @Sendable (StoreFailure) -> Void,
        onMessage: (@Sendable ([RESPValue]) -> Void)? = nil
    ) {
        self.channel = channel
        self.onEnd = onEnd
        self.onMessage = onMessage
        // Where bytes arrive: behind the tasks of a busy process a reply would seem late that isn't.
        _ = (channel.arrivals ?? CallersExecutor(nil)).startDetached { [weak self, channel] in
            let failure: StoreFailure
            do {
                var reader = RESPReader()
                while let bytes = try await channel.read() {
                    reader.append(bytes)
                    guard try self?.take(&reader) != nil else { return }
                }
                failure = .unreachable("the server closed the connection")
            } catch let error as RESPReader.Malformed {
                failure = .unreachable("the server doesn't speak Redis' protocol: \(error.reason)")
            } catch {
                failure = .unreachable("the connection was lost")
            }
            if let self, self.finish(failure) { self.onEnd(failure) }
        }
    }

    deinit { channel.close() }

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
        // Without a change of threads: most commands are written before this returns.
        if isFirst { CallersExecutor().startAtOnce { [weak self, channel] in await Self.write(channel) { self?.nextBytes() } } }
        return reply
    }

    /// Closes the connection. Replies that are awaited fail.
    func close() { finish(.unreachable("the connection was closed")) }

    var isOpen: Bool { state.withLock { $0.end == nil } }

    /// The reply that comes next; nil: none is awaited.
    var nextReply: Reply? { state.withLock { $0.awaited.first } }

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
            var bytes: [UInt8] = []
            swap(&bytes, &state.outgoing)
            return bytes
        }
    }

    /// Hands values to those who wait for them.
    private func take(_ reader: inout RESPReader) throws {
        var values: [RESPValue] = []
        while let value = try reader.next() {
            if let onMessage, let parts = value.elements, parts.first?.string == "message" {
                onMessage(parts)
            } else {
                values.append(value)
            }
        }
        guard !values.isEmpty else { return }
        let replies = state.withLock { state in values.compactMap { _ in state.awaited.popFirst() } }
        for (reply, value) in zip(replies, values) { reply.resume(Self.answer(value)) }
        guard replies.count == values.count || !isOpen else { throw RESPReader.Malformed(reason: "a reply to nothing") }
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

    @discardableResult
    private func finish(_ failure: StoreFailure) -> Bool {
        let awaited = state.withLock { state -> [Reply]? in
            guard state.end == nil else { return nil }
            state.end = failure
            defer { (state.outgoing, state.awaited) = ([], Queue()) }
            return state.awaited.all
        }
        channel.close()
        for reply in awaited ?? [] { reply.resume(.failure(failure)) }
        return awaited != nil
    }
}
