internal import Interception
internal import MidstreamCore
internal import WebSocketFrames

/// The closing handshake (RFC 6455 §7.1).
extension Connection {
    /// Sends a close frame and waits for the answer, for some seconds; harmless when repeated. What comes meanwhile can be read.
    ///
    /// - Throws: `CancellationError`; the socket has ended then.
    func close(_ frame: CloseFrame) async throws {
        let (end, sent) = (Suspension<Void>(), Suspension<Void>())
        let (isOver, isFirst, receiver) = state.withLock { state -> (Bool, Bool, Suspension<Void>?) in
            guard state.end == nil else { return (true, false, nil) }
            state.closers.append(end)
            state.inbox.close()
            defer { state.inbox.receiver = nil }
            guard state.closing == nil else { return (false, false, state.inbox.receiver) }
            state.closing = .closed(WebSocketClosure(frame, byPeer: false))
            state.closeSent = sent
            return (false, true, state.inbox.receiver)
        }
        if isOver { return }
        receiver?.resume()
        if isFirst { sendControl(.close, frame.payload, then: sent) }
        switch await end.wait(for: Self.closeTimeout, on: stopwatch.timer) {
        case .value: break
        case .timedOut: lose(nil)
        case .cancelled:
            lose(nil)
            throw CancellationError()
        }
    }

    /// The other side has sent a close frame: it is answered, unless it is the answer.
    func answer(_ frame: CloseFrame) async {
        let closure = WebSocketClosure(frame, byPeer: true)
        let theirs =
            closure.isClean ? End.closed(closure) : lost(closure, "The server has closed the socket: \(closure.code).")
        // Both may have begun at once.
        if let ours = await begun(or: theirs) { return end(ours) }
        await sendLast(CloseFrame(code: frame.code))
        end(theirs)
    }

    /// The other side doesn't keep to the protocol, or to what is allowed here. A closing that has begun says all the same how the socket ends.
    func refuse(_ violation: FrameViolation) async {
        let frame = CloseFrame(code: violation.code, reason: violation.message)
        let failure = lost(WebSocketClosure(frame, byPeer: false), violation.message)
        let ours = await begun(or: failure)
        if ours == nil { await sendLast(frame) }
        await drain()
        end(ours ?? failure)
    }

    /// The end that a closing of this side leads to, once its close frame has left; nil where none has begun: it does now, and leads to the
    /// given end.
    private func begun(or other: End) async -> End? {
        let (ours, sent) = state.withLock { state in
            let ours = state.closeSent == nil ? nil : state.closing
            state.closing = ours ?? other
            return (ours, state.closeSent)
        }
        _ = await sent?.wait(for: Self.closeTimeout, on: stopwatch.timer)
        return ours
    }

    /// Reads off what the other side still sends: closing with something unread would break the connection before the close frame is read.
    private func drain() async {
        let end = Suspension<Void>()
        let reading = Task { [channel] in
            while (try? await channel.read()) != nil {}
            end.resume()
        }
        _ = await end.wait(for: Self.closeTimeout, on: stopwatch.timer)
        reading.cancel()
    }

    /// Sends a close frame to which nothing is expected.
    private func sendLast(_ frame: CloseFrame) async {
        let sent = Suspension<Void>()
        sendControl(.close, frame.payload, then: sent)
        _ = await sent.wait(for: Self.closeTimeout, on: stopwatch.timer)
    }
}

extension CloseFrame {
    /// The frame for a close by the user.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` for a code that can't be sent.
    init(sending code: WebSocketClosure.Code, _ reason: String) throws {
        guard Self.mayBeSent(code.rawValue) else {
            throw HTTPError(.invalidRequest, "The code \(code) can't be sent in a close frame.", phase: .notSent)
        }
        self.init(code: code.rawValue, reason: reason)
    }
}
