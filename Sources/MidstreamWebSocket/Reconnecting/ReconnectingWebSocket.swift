public import Foundation
internal import Interception
public import MidstreamCore
internal import WebSocketFrames

/// A socket that is opened again when it is lost.
///
/// ```swift
/// for try await event in client.webSocket("feed").reconnecting() {
///     switch event {
///     case .opened(let response): print("opened by \(response.status)")
///     case .message(let message): print(message)
///     case .lost(let error, let delay): print("\(error), again after \(delay)")
///     }
/// }
/// ```
///
/// It works while it is read, by one task: that waits between attempts, opens sockets, and closes the last one when it stops reading: at once,
/// so call ``close(_:_:)`` before it leaves the loop if the server is to be told. Each socket is opened through the client's whole pipeline, so
/// a new token is fetched where one is needed; that it is opened again isn't paid from the client's retry budget. There is no limit to the
/// attempts but the deadline of a call within which it is read: instead of a wait that would pass it, it throws
/// ``HTTPError/Code/deadlineExceeded``.
///
/// It isn't opened again after a failure that another attempt wouldn't help: a refused upgrade, unless its status may be another one next
/// time (408, 429, 500, 502, 503, 504), an answer that is no agreement, a failed TLS handshake, a token that the issuer has refused, a
/// transport that has been closed, and a socket that the server has closed with 1000, 1002, 1007, 1008, 1009 or 1010, or that was closed for
/// what it brought, which breaks the rules or is too large; nor after what an interceptor or `resume` throws, unless that is a failure that
/// another attempt may help. It goes on after a refusal by a breaker, limit or quota of the client, and when there is no token since nobody
/// could be asked for one.
public final class ReconnectingWebSocket: Sendable {
    /// What happens to it.
    public enum Event: Sendable {
        /// A socket stands, by this response.
        case opened(HTTPResponse)
        /// A message has come.
        case message(WebSocketMessage)
        /// The socket was lost, or none could be opened; the next attempt comes after this time.
        case lost(any Error, again: Duration)
    }

    private struct State {
        var socket: WebSocket?
        var isRead = false
        var isClosed = false
        /// Ends a pause between two attempts, or an attempt.
        var closing: Suspension<Void>?
    }

    private let task: WebSocketTask
    private let strategy: RetryStrategy
    private let resume: @Sendable (inout HTTPRequest, WebSocketMessage?) async throws -> Void
    private let state = Locked(State())

    init(
        _ task: WebSocketTask, _ strategy: RetryStrategy,
        _ resume: @escaping @Sendable (inout HTTPRequest, WebSocketMessage?) async throws -> Void
    ) {
        self.task = task
        self.strategy = strategy
        self.resume = resume
    }

    /// The socket that stands now; nil between two. Closing it, with whatever code, has it lost and another one opened, as for a heartbeat that
    /// hasn't come or a token that is about to expire; ``close(_:_:)`` is what ends the feed.
    public var socket: WebSocket? { state.withLock { $0.socket } }

    /// Sends a text over the socket that stands; see ``WebSocket/send(_:)-(String)``. It is sent once at most: when the socket is lost
    /// meanwhile, it fails.
    ///
    /// - Throws: ``HTTPError/Code/connectionLost`` with the phase ``HTTPError/Phase/notSent`` when none stands; what the socket's own throws.
    public func send(_ text: String) async throws { try await present().send(text) }

    /// Sends bytes in the same way.
    public func send(_ bytes: [UInt8]) async throws { try await present().send(bytes) }

    /// Sends bytes in the same way.
    public func send(_ bytes: Data) async throws { try await present().send(bytes) }

    /// Sends a message in the same way.
    public func send(_ message: WebSocketMessage) async throws { try await present().send(message) }

    /// Sends a value as JSON in the same way.
    public func send(json value: some Encodable & Sendable) async throws { try await present().send(json: value) }

    private func present() throws -> WebSocket {
        guard let socket else {
            throw HTTPError(.connectionLost, "No socket stands at present.", request: task.request, phase: .notSent)
        }
        return socket
    }

    /// Closes the socket, for good; the sequence ends. See ``WebSocket/close(_:_:)``; a code that can't be sent closes nothing.
    public func close(_ code: WebSocketClosure.Code = .normal, _ reason: String = "") async throws {
        let frame = try CloseFrame(sending: code, reason)
        let (socket, closing) = state.withLock { state in
            state.isClosed = true
            return (state.socket, state.closing)
        }
        closing?.resume()
        try await socket?.connection.close(frame)
    }
}

extension ReconnectingWebSocket: AsyncSequence {
    /// What all copies of an iterator hold: with the last of them the reading is over.
    fileprivate final class Reading: Sendable {
        let feed: ReconnectingWebSocket

        init(_ feed: ReconnectingWebSocket) { self.feed = feed }

        deinit { feed.letGo() }
    }

    /// Reads the events, and does the work. A copy that is read as well opens sockets of its own.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        /// Nil: somebody else reads.
        private let reading: Reading?
        private var messages: WebSocket.AsyncIterator?
        private var last: WebSocketMessage?
        /// How long the next attempt waits; nil: it is the first.
        private var delay: Duration?
        private var attempts = 0
        /// How long the socket has stood. Not a `Stopwatch`, with which only the runtime could copy an iterator: optimized by Swift 6.3, a
        /// variable `var events: AsyncIterator?` of such a type isn't released when it is set to nil for the last time.
        private var opened: (@Sendable () -> Duration)?
        private var isOver = false

        fileprivate init(_ reading: Reading?) { self.reading = reading }

        /// The next event; nil once the feed was closed, or the socket by the server with 1000.
        ///
        /// - Throws: The failure after which no other attempt is made; `CancellationError`.
        public mutating func next() async throws -> Event? {
            guard let feed = reading?.feed else { throw WebSocket.AsyncIterator.isReadAlready }
            guard !isOver else { return nil }
            do {
                return try await event(of: feed)
            } catch let error as CancellationError {
                throw error
            } catch {
                messages = nil
                feed.letGo()
                guard !feed.isClosed else { return over() }
                guard Self.mayHelp(error) else {
                    isOver = true
                    throw error
                }
                let wait = nextDelay(feed, after: error)
                if let overdue = feed.task.client.overdue(after: wait) {
                    isOver = true
                    throw overdue
                }
                return .lost(error, again: wait)
            }
        }

        private mutating func event(of feed: ReconnectingWebSocket) async throws -> Event? {
            if messages == nil {
                guard let socket = try await feed.open(after: delay, last: last) else { return over() }
                messages = socket.makeAsyncIterator()
                opened = { [stopwatch = feed.task.client.stopwatch.restarted()] in stopwatch.elapsed }
                return .opened(socket.response)
            }
            if let message = try await messages?.next() {
                last = message
                return .message(message)
            }
            guard let socket = feed.socket, let closure = socket.closure, !feed.isClosed,
                !closure.byPeer || closure.code != .normal
            else { return over() }
            let message = closure.byPeer ? "The server goes away." : "The socket was closed by this side: \(closure.code)."
            // By whatever code the user has closed the socket alone, another one is wanted.
            throw HTTPError(
                .connectionLost, message, request: socket.response.request, underlying: closure, phase: .answered)
        }

        private mutating func over() -> Event? {
            isOver = true
            messages = nil
            reading?.feed.letGo()
            return nil
        }

        /// Counts from the beginning again when the last socket stood for longer than was waited for it.
        private mutating func nextDelay(_ feed: ReconnectingWebSocket, after error: any Error) -> Duration {
            if let opened, opened() > delay ?? .zero { attempts = 0 }
            opened = nil
            attempts += 1
            let client = feed.task.client
            let own = feed.strategy.delay(
                beforeRetry: attempts, previous: attempts == 1 ? nil : delay, of: feed.task.request,
                random: client.random)
            let next = feed.strategy.delay(own, atLeast: (error as? HTTPError).flatMap(client.waitAsked))
            delay = next
            return next
        }

        private static func mayHelp(_ error: any Error) -> Bool {
            guard let error = error as? HTTPError, !error.isForGood else { return false }
            return error.code == .deadlineExceeded || error.mayPassOnAnotherConnection
        }
    }

    /// Begins to read, which opens the first socket; a second reader gets an error.
    public func makeAsyncIterator() -> AsyncIterator {
        let isFirst = state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
        return AsyncIterator(isFirst ? Reading(self) : nil)
    }

    /// Ends the socket, which somebody may still be sending over or hold. One that is being closed ends by itself, but for one that a send has
    /// found broken: what it has brought may wait for a reader for ever.
    private func letGo() {
        let (socket, isClosed) = state.withLock { ($0.socket.take(), $0.isClosed) }
        guard let connection = socket?.connection, !isClosed,
            connection.state.withLock({ $0.closing == nil || $0.isBroken })
        else { return }
        connection.lose(nil)
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Opens a socket; nil when the feed was closed meanwhile.
    private func open(after delay: Duration?, last: WebSocketMessage?) async throws -> WebSocket? {
        if let delay, try await closes(within: delay) { return nil }
        guard !isClosed else { return nil }
        let attempt = try await unlessClosed { [task, resume] in
            var task = task
            if delay != nil {
                let offered = task.request.headers[UpgradeRequest.protocolField]
                try await resume(&task.request, last)
                // What it sets would be overwritten, such as by the token of the first attempt.
                if task.request.headers[UpgradeRequest.protocolField] != offered { task.protocols = [] }
            }
            return try await task.connect()
        }
        guard let socket = attempt else { return nil }
        let isWanted = state.withLock { state in
            if !state.isClosed { state.socket = socket }
            return !state.isClosed
        }
        return isWanted ? socket : nil
    }

    /// Makes an attempt, and gives it up when the feed is closed; nil then.
    private func unlessClosed(_ attempt: @escaping @Sendable () async throws -> WebSocket) async throws -> WebSocket? {
        try await withThrowingTaskGroup(of: WebSocket?.self) { group in
            group.addTask { try await attempt() }
            group.addTask {
                _ = try await self.closes(within: nil)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Waits for the feed to be closed; false when the time is over before.
    private func closes(within limit: Duration?) async throws -> Bool {
        let closing = Suspension<Void>()
        let isClosed = state.withLock { state in
            state.closing = closing
            return state.isClosed
        }
        guard !isClosed else { return true }
        defer { state.withLock { $0.closing = nil } }
        switch await closing.wait(for: limit, on: task.client.stopwatch.timer) {
        case .timedOut: return false
        case .value: return true
        case .cancelled: throw CancellationError()
        }
    }
}

extension WebSocketTask {
    /// The same socket, opened again whenever it is lost.
    ///
    /// - Parameters:
    ///   - strategy: How long is waited before each attempt; exponential from 1 s to 30 s with full jitter by default, and after a 429 or 503 at
    ///     least its `Retry-After`, as for any retry. It begins anew after a socket that stood for longer than was waited for it. Of a strategy
    ///     that does something before a retry only the delay counts: `.whenOnline()` has none, and waits for no network.
    ///   - resume: Gets the request of each attempt but the first, to be changed, such as by asking for what comes after the last message, which
    ///     it gets as well. A `Sec-WebSocket-Protocol` that it sets, such as with a new token, replaces ``protocols``. What it throws ends the
    ///     sequence unless it is a failure that another attempt may help.
    public func reconnecting(
        _ strategy: RetryStrategy = .exponential(base: .seconds(1), cap: .seconds(30)),
        resume: @escaping @Sendable (inout HTTPRequest, WebSocketMessage?) async throws -> Void = { _, _ in }
    ) -> ReconnectingWebSocket { ReconnectingWebSocket(self, strategy, resume) }
}
