internal import Interception

/// The requests received, and the tasks that wait for one.
final class RequestLog: Sendable {
    private struct State {
        var kept = Queue<RecordedRequest>()
        var untaken = Queue<RecordedRequest>()
        var waiters: [Suspension<RecordedRequest?>] = []
        var count = 0
        var isClosed = false
    }

    private let state = Locked(State())
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var requests: [RecordedRequest] { state.withLock { $0.kept.all } }
    var count: Int { state.withLock { $0.count } }

    func append(_ request: RecordedRequest) {
        state.withLock { state in
            state.count += 1
            state.kept.append(request)
            if state.kept.count > limit { _ = state.kept.popFirst() }
        }
        offer(request)
    }

    /// Gives a request to the first waiting task that takes it, or keeps it.
    private func offer(_ request: RecordedRequest) {
        while true {
            let waiter = state.withLock { state -> Suspension<RecordedRequest?>? in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.untaken.append(request)
                if state.untaken.count > limit { _ = state.untaken.popFirst() }
                return nil
            }
            guard let waiter, !waiter.resume(request) else { return }
        }
    }

    func take(within limit: Duration) async throws -> RecordedRequest {
        try Task.checkCancellation()
        let waiter = Suspension<RecordedRequest?>()
        let request = try state.withLock { state -> RecordedRequest? in
            if let request = state.untaken.popFirst() { return request }
            if state.isClosed { throw Self.closed }
            state.waiters.append(waiter)
            return nil
        }
        if let request { return request }
        let ending = await waiter.wait(for: limit, on: .system)
        guard case .value(let taken) = ending else {
            state.withLock { $0.waiters.removeAll { $0 == waiter } }
            if case .timedOut = ending { throw MockServer.Failure("No request came within \(limit).") }
            throw CancellationError()
        }
        guard let taken else { throw Self.closed }
        return taken
    }

    /// Ends all waits. Requests not taken yet can still be.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(nil) }
    }

    private static let closed = MockServer.Failure("The server is shut down, and no request is left to take.")
}
