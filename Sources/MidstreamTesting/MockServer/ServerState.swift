internal import Interception
internal import LoopbackServer
internal import MidstreamCore

/// What a server's threads share. They don't hold the server itself, so that releasing it can end them.
final class ServerState: Sendable {
    typealias Handler = @Sendable (RecordedRequest) async throws -> MockServer.Response

    private struct State {
        var queue = Queue<MockServer.Response>()
        var handler: Handler?
    }

    let listener: Listener
    let family: MockServer.Family
    let clock: any Clock<Duration>
    let limits: MockServer.Limits
    let log: RequestLog
    /// For delays that are distributed.
    let random = SimulatedRandom(seed: 0)
    private let state = Locked(State())

    init(port: Int, family: MockServer.Family, clock: any Clock<Duration>, limits: MockServer.Limits) throws {
        listener = try Listener(port: port, isIPv6: family == .ipv6)
        self.family = family
        self.clock = clock
        self.limits = limits
        log = RequestLog(limit: limits.keptRequests)
        try listener.start { [self] socket, number in ServerConnection(socket, number: number, server: self).serve() }
        ResourceWitness.tell(of: self)
    }

    func enqueue(_ responses: [MockServer.Response]) {
        state.withLock { state in responses.forEach { state.queue.append($0) } }
    }

    func respond(_ handler: @escaping Handler) {
        // The old closure is released outside the lock, since what it holds may call back.
        _ = state.withLock { state in
            let old = state.handler
            state.handler = handler
            return old
        }
    }

    /// The first response of the queue if it doesn't wait for the request's body; records the request then.
    func takeEarlyResponse(to request: RecordedRequest) -> MockServer.Response? {
        state.withLock { state in
            guard let first = state.queue.first, first.early else { return nil }
            log.append(request)
            return state.queue.popFirst()
        }
    }

    /// Records a request and says how it is to be answered, by the closure where the queue is empty: both in one step, so that the n-th recorded
    /// request gets the n-th response of the queue.
    func answer(to request: RecordedRequest) -> (response: MockServer.Response?, handler: Handler?) {
        state.withLock { state in
            log.append(request)
            return (state.queue.popFirst(), state.handler)
        }
    }

    func shutdown() {
        // First, so that nobody who comes meanwhile is told that nothing is scripted.
        try? listener.stop()
        // The closure is released outside the lock, since what it holds may call back.
        _ = state.withLock { state in
            defer { state = State() }
            return state
        }
        log.close()
    }
}
