internal import Foundation
internal import Interception
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session and its delegate. The session keeps the delegate alive until it is invalidated.
final class Session: Sendable {
    let delegate: SessionDelegate
    /// Nil once invalidated. The lock is never taken by a delegate call, since making a task waits for those on Linux.
    private let session: Locked<URLSession?>
    #if canImport(FoundationNetworking)
        /// Where tasks are made and started: both wait for the queue that all sessions of the process share, and there are too few
        /// threads for Swift's tasks to have them wait.
        private let starts = DispatchQueue(label: "Midstream URLSession starts")
    #endif

    init(_ configuration: URLSessionConfiguration, delegate: SessionDelegate = SessionDelegate()) {
        self.delegate = delegate
        #if canImport(FoundationNetworking)
            let queue: OperationQueue? = InlineOperationQueue()
        #else
            let queue: OperationQueue? = nil
        #endif
        session = Locked(URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue))
        ResourceWitness.tell(of: delegate)
    }

    /// Starts the exchange soon, or ends it with an error when the session has been invalidated.
    func start(_ exchange: Exchange) {
        #if canImport(FoundationNetworking)
            starts.async { self.startNow(exchange) }
        #else
            startNow(exchange)
        #endif
    }

    private func startNow(_ exchange: Exchange) {
        guard !exchange.hasEnded else { return }
        // A task made on an invalidated session ends the process, so both happen under one lock.
        let task = session.withLock { session in
            session.map { session in
                let task = exchange.outgoing.makeTask(in: session)
                delegate.add(exchange, as: task)
                return task
            }
        }
        guard let task else { return exchange.giveUp(HTTPError.transportClosed) }
        exchange.run(task)
    }

    #if !canImport(FoundationNetworking)
        /// Opens a socket, or ends it with an error when the session has been invalidated.
        func start(_ socket: SocketTask) {
            let (task, isOver) = session.withLock { session -> (URLSessionWebSocketTask?, Bool) in
                guard let session else { return (nil, true) }
                let task = socket.makeTask(in: session)
                if let task { delegate.add(socket, as: task) }
                return (task, false)
            }
            if isOver { socket.giveUp(HTTPError.transportClosed) }
            task?.resume()
        }
    #endif

    /// Lets what is under way end, and then lets the session go.
    func retire() {
        session.withLock { session in
            session?.finishTasksAndInvalidate()
            session = nil
        }
    }

    /// Ends what is under way with an error, and lets the session go.
    func close() {
        retire()
        let error = HTTPError(.connectionLost, "The transport was closed.").refusedHere.forGood
        for exchange in delegate.current { exchange.giveUp(error) }
        #if !canImport(FoundationNetworking)
            for socket in delegate.currentSockets { socket.giveUp(error) }
        #endif
    }
}
