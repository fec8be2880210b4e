internal import Foundation
internal import Interception
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session and its delegate. The session keeps the delegate alive until it is invalidated.
final class Session: Sendable {
    let delegate = SessionDelegate()
    /// Nil once invalidated. The lock is never taken by a delegate call, since making a task waits for those on Linux.
    private let session: Locked<URLSession?>

    init(_ configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
            let queue: OperationQueue? = InlineOperationQueue()
        #else
            let queue: OperationQueue? = nil
        #endif
        session = Locked(URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue))
    }

    /// Starts the exchange; false when the session has been invalidated.
    func start(_ exchange: Exchange) -> Bool {
        // A task made on an invalidated session ends the process, so both happen under one lock.
        let task = session.withLock { session in session.map(exchange.makeTask) }
        guard let task else { return false }
        delegate.add(exchange, as: task)
        exchange.run(task)
        return true
    }

    /// Lets what is under way end, and then lets the session go.
    func retire() {
        session.withLock { session in
            session?.finishTasksAndInvalidate()
            session = nil
        }
    }

    /// Ends what is under way with an error, and lets the session go.
    func close(_ error: HTTPError) {
        for exchange in delegate.current { exchange.giveUp(error) }
        retire()
        // One that was being started while the first round ran.
        for exchange in delegate.current { exchange.giveUp(error) }
    }
}

/// The sessions of one transport: a shared one and, on Linux, one for each exchange that may have to wait for its user.
///
/// There, waiting holds up everything that a session does, so that two exchanges which wait for each other would wait forever.
/// A session that isn't needed any more is kept for the next exchange, with its connections.
final class Sessions: Sendable {
    private struct State {
        var idle: [Session] = []
        var busy: [ObjectIdentifier: Session] = [:]
        var isRetired = false
    }

    private static let maximumIdle = 8
    private let configuration: URLSessionConfiguration
    private let shared: Session
    private let state = Locked(State())

    init(_ configuration: URLSessionConfiguration) {
        self.configuration = configuration
        shared = Session(configuration)
    }

    func start(_ exchange: Exchange) {
        let started =
            if Exchange.waitsInDelegate, exchange.mayWait {
                checkOut(for: exchange)?.start(exchange) ?? false
            } else {
                shared.start(exchange)
            }
        if !started { exchange.giveUp(HTTPError(.connection, "The transport has been closed.", progress: .notSent)) }
    }

    func retire() {
        let idle = state.withLock { state in
            state.isRetired = true
            defer { state.idle = [] }
            return state.idle
        }
        for session in idle + [shared] { session.retire() }
    }

    func close() {
        retire()
        let busy = state.withLock { Array($0.busy.values) }
        for session in busy + [shared] { session.close(HTTPError(.connectionLost, "The transport was closed.")) }
    }

    private func checkOut(for exchange: Exchange) -> Session? {
        let (session, isRetired) = state.withLock { state in (state.idle.popLast(), state.isRetired) }
        if isRetired { return nil }
        let chosen = session ?? Session(configuration)
        state.withLock { $0.busy[ObjectIdentifier(chosen)] = chosen }
        exchange.onEnd { [self] in checkIn(chosen) }
        return chosen
    }

    private func checkIn(_ session: Session) {
        let isKept = state.withLock { state in
            state.busy[ObjectIdentifier(session)] = nil
            guard !state.isRetired, state.idle.count < Self.maximumIdle else { return false }
            state.idle.append(session)
            return true
        }
        if !isKept { session.retire() }
    }
}
