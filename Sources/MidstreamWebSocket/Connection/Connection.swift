internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// A socket at work: what receives, what sends, and how it ends. Its user's handle ends it when that is released.
final class Connection: Sendable {
    enum End: Sendable {
        /// As agreed: the reader's sequence is over.
        case closed(WebSocketClosure)
        /// What the reader and all others get.
        case failed(HTTPError)
    }

    struct State {
        var inbox = Inbox()
        /// Where the close frame leads that has been sent, or is about to be, or that the connection takes nothing any more: no message follows.
        var closing: End?
        /// The connection takes nothing any more; what it has brought is still read.
        var isBroken = false
        /// What broke the connection while this side's closing had no answer yet: what was sent before may be lost.
        var breakage: HTTPError?
        /// Resumed when the close frame of ``Connection/close(_:)`` has left.
        var closeSent: Suspension<Void>?
        var end: End?
        /// Wait for the end.
        var closers: [Suspension<Void>] = []
        var pings = Pings()
        var controls = Controls()
        var masks = Masks()
        var tasks: [Task<Void, Never>] = []
        var metrics = WebSocketMetrics()
    }

    let channel: BodyChannel
    /// That of the upgrade, for errors.
    let request: HTTPRequest
    let options: WebSocketOptions
    let stopwatch: Stopwatch
    private let deflate: DeflateParameters?
    /// Used by whoever sends a message.
    let deflater: Deflater?
    let state = Locked(State())
    /// Who sends a frame.
    let frames = Turnstile()
    /// Who sends a message.
    let messages = Turnstile()

    /// How long the other side may take to answer a close frame, and to take one.
    static let closeTimeout = Duration.seconds(5)

    init(
        _ channel: BodyChannel, of request: HTTPRequest, _ deflate: DeflateParameters?, _ options: WebSocketOptions,
        on stopwatch: Stopwatch
    ) {
        self.channel = channel
        self.request = request
        self.deflate = deflate
        self.options = options
        self.stopwatch = stopwatch
        deflater = deflate?.deflater(for: .client)
    }

    /// Begins to ping, where the task runs that opens the socket, and to receive: where that runs if it prefers some place, else where bytes
    /// arrive, which saves a change of threads for each message. Inflating takes too long for that place.
    ///
    /// What a socket does by itself has none of the task-local values of who opens it: with them it would hold a call that does so, and count as
    /// a part of it, long after that is over.
    func start() {
        let executor = CallersExecutor()
        let arrivals = deflate == nil ? channel.arrivals : nil
        var tasks = [receiving(on: executor.preferred == nil ? arrivals ?? executor : executor)]
        if let interval = options.pingInterval { tasks.append(executor.startDetached { await self.keepAlive(every: interval) }) }
        let isOver = state.withLock { state in
            state.tasks = tasks
            return state.end != nil
        }
        if isOver { for task in tasks { task.cancel() } }
    }

    /// Begun here and not by `startDetached`, whose closure would take more than the piece of memory that a task begins with.
    private func receiving(on executor: CallersExecutor) -> Task<Void, Never> {
        if #available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *),
            let preferred = executor.preferred as? any TaskExecutor
        {
            return Task.detached(executorPreference: preferred) { await self.receive() }
        }
        return Task.detached { await self.receive() }
    }

    // MARK: Receiving

    /// A reader and what it hasn't read yet, which take one word of the frame of what waits.
    private final class Received {
        var reader: MessageReader
        /// What has come last, and how much of it has been read.
        var bytes: [UInt8] = []
        var place = 0
        /// How much more may wait for the one who reads the messages.
        var room = Inbox().room

        /// Inlined, it would be put into the frame.
        @inline(never)
        init(_ options: WebSocketOptions, _ deflate: DeflateParameters?) {
            reader = MessageReader(
                role: .client, messageLimit: options.maximumMessage, inflater: deflate?.inflater(for: .client))
        }
    }

    /// What the other side has done that ends receiving. One word, too.
    private indirect enum Last {
        case closed(CloseFrame)
        case violated(FrameViolation)
    }

    /// Waits most of its life, so its frame is small, and fits with those of what it calls into the piece of memory that a task begins with.
    private func receive() async {
        let received = Received(options, deflate)
        do {
            while let bytes = try await channel.body.next() {
                (received.bytes, received.place) = (bytes, 0)
                // Compressed, it may be a thousand times as much as there is room for.
                repeat {
                    switch take(from: received) {
                    case .closed(let frame): return await answer(frame)
                    case .violated(let violation): return await refuse(violation)
                    case nil: if received.room <= 0 { await waitForRoom() }
                    }
                } while received.place < received.bytes.count && !Task.isCancelled
                // Not to be kept while nothing comes.
                received.bytes = []
            }
            lose(nil)
        } catch {
            lose(error)
        }
    }

    /// Takes what has come as far as there is room for it.
    @inline(never)
    private func take(from received: Received) -> Last? {
        let start = received.place
        var room = received.room
        var events: [MessageReader.Event] = []
        var violation: FrameViolation?
        do throws(FrameViolation) {
            repeat {
                guard let event = try received.reader.next(in: received.bytes, from: &received.place) else { break }
                events.append(event)
                if let message = event.message { room -= Inbox.room(for: message) }
            } while room > 0
        } catch {
            violation = error
        }
        received.room = take(events, wireBytes: received.place - start)
        if case .close(let frame) = events.last { return .closed(frame) }
        return violation.map { .violated($0) }
    }

    /// - Returns: How much more may wait.
    private func take(_ events: [MessageReader.Event], wireBytes: Int) -> Int {
        // Before anybody can answer a message, so that the answers leave in this order.
        for event in events {
            switch event {
            case .ping(let payload): sendControl(.pong, payload)
            case .pong(let payload): takePong(payload)
            case .text, .binary, .close: break
            }
        }
        let (reader, room) = state.withLock { state -> (Suspension<Void>?, Int) in
            state.metrics.wireBytesReceived += Int64(wireBytes)
            var hasMessages = false
            for event in events {
                guard let message = event.message else { continue }
                state.metrics.messagesReceived += 1
                state.metrics.bytesReceived += Int64(message.size)
                state.inbox.append(message)
                hasMessages = true
            }
            guard hasMessages else { return (nil, state.inbox.room) }
            defer { state.inbox.reader = nil }
            return (state.inbox.reader, state.inbox.room)
        }
        reader?.resume()
        return room
    }

    @inline(never)
    nonisolated(nonsending) private func waitForRoom() async {
        let receiver = state.withLock { state -> Suspension<Void>? in
            guard state.inbox.isFull else { return nil }
            let receiver = Suspension<Void>()
            state.inbox.receiver = receiver
            return receiver
        }
        _ = await receiver?.wait()
    }

    /// The next message; nil once the socket was closed as agreed.
    ///
    /// - Throws: ``HTTPError/Code/connectionLost`` with ``WebSocketClosure``; ``HTTPError/Code/bodyNotReplayable`` while another task waits;
    ///   `CancellationError`.
    nonisolated(nonsending) func next() async throws -> WebSocketMessage? {
        while true {
            try Task.checkCancellation()
            switch try state.withLock({ state throws in try state.next() }) {
            case .message(let message, let receiver):
                receiver?.resume()
                return message
            case .end(.closed): return nil
            case .end(.failed(let error)): throw error
            case .wait(let reader): if case .cancelled = await reader.wait() { throw CancellationError() }
            }
        }
    }

    // MARK: Ends

    /// Nothing is sent or received any more; the first reason counts.
    func end(_ end: End) {
        var ended = State()
        let isFirst = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = end
            state.inbox.close()
            swap(&ended.closers, &state.closers)
            swap(&ended.tasks, &state.tasks)
            swap(&ended.pings, &state.pings)
            (ended.inbox.reader, ended.inbox.receiver) = (state.inbox.reader, state.inbox.receiver)
            (state.inbox.reader, state.inbox.receiver) = (nil, nil)
            return true
        }
        guard isFirst else { return }
        channel.close()
        messages.close()
        ended.inbox.reader?.resume()
        ended.inbox.receiver?.resume()
        for closer in ended.closers { closer.resume() }
        ended.pings.fail(failure)
        for task in ended.tasks { task.cancel() }
    }

    /// The connection has ended, without a close frame or before the closing was over.
    func lose(_ cause: (any Error)?) {
        let closing = state.withLock { state in
            if state.end == nil, state.closing != nil { state.breakage = cause as? HTTPError }
            return state.closing
        }
        end(closing ?? lost(by: cause))
    }

    /// The failure that a closure is.
    func lost(_ closure: WebSocketClosure, _ message: String) -> End {
        let error = HTTPError(.connectionLost, message, request: request, underlying: closure, phase: .answered)
        return .failed(closure.isForGood ? error.forGood : error)
    }

    /// The failure that a connection is which has ended without a close frame.
    func lost(by cause: (any Error)?) -> End {
        let cause = cause as? HTTPError
        let error = HTTPError(
            .connectionLost, cause?.message ?? "The connection ended without a close frame.", request: request,
            underlying: WebSocketClosure(code: .abnormal, byPeer: false), phase: .answered)
        return .failed(cause?.isForGood == true ? error.forGood : error)
    }

    /// What those get who want something of a socket that has ended or is being closed.
    var failure: HTTPError {
        var closure: WebSocketClosure?
        switch state.withLock({ $0.end ?? $0.closing }) {
        case .failed(let error): return error
        case .closed(let known): closure = known
        case nil: break
        }
        return HTTPError(.connectionLost, "The socket is closed.", request: request, underlying: closure, phase: .notSent)
    }
}

extension Connection.State {
    /// What a reader gets.
    fileprivate enum Next {
        /// - Parameter receiver: Has room again.
        case message(WebSocketMessage, receiver: Suspension<Void>?)
        case end(Connection.End)
        case wait(Suspension<Void>)
    }

    fileprivate mutating func next() throws -> Next {
        if let message = inbox.next() {
            guard inbox.hasRoomAgain else { return .message(message, receiver: nil) }
            defer { inbox.receiver = nil }
            return .message(message, receiver: inbox.receiver)
        }
        // The other one would never be told.
        guard inbox.reader?.isOver ?? true else { throw HTTPError.beingRead() }
        if let end { return .end(end) }
        let reader = Suspension<Void>()
        inbox.reader = reader
        return .wait(reader)
    }
}

extension MessageReader.Event {
    /// Nil for a control frame.
    fileprivate var message: WebSocketMessage? {
        switch self {
        case .text(let text): .text(text)
        case .binary(let bytes): .binary(bytes)
        case .ping, .pong, .close: nil
        }
    }
}

extension WebSocketClosure {
    init(_ frame: CloseFrame, byPeer: Bool) {
        self.init(code: frame.code.map { Code(rawValue: $0) } ?? .none, reason: frame.reason, byPeer: byPeer)
    }
}
