internal import Interception

/// The requests that came, and the tasks that wait for one.
final class RequestLog: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<RecordedRequest, any Error>
    }

    private struct State {
        var kept = Queue<RecordedRequest>()
        var untaken = Queue<RecordedRequest>()
        var waiters: [Waiter] = []
        var count = 0
        var nextWaiter = 0
        var isClosed = false
    }

    private let state = Locked(State())
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var requests: [RecordedRequest] { state.withLock { $0.kept.all } }
    var count: Int { state.withLock { $0.count } }

    func append(_ request: RecordedRequest) {
        let waiter: Waiter? = state.withLock { state in
            state.count += 1
            state.kept.append(request)
            if state.kept.count > limit { _ = state.kept.popFirst() }
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.untaken.append(request)
            if state.untaken.count > limit { _ = state.untaken.popFirst() }
            return nil
        }
        waiter?.continuation.resume(returning: request)
    }

    func take() async throws -> RecordedRequest {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<RecordedRequest, any Error>? = state.withLock { state in
                    // Looked at under the lock: a cancellation that comes later finds the waiter in the list.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let request = state.untaken.popFirst() { return .success(request) }
                    if state.isClosed { return .failure(Self.closed) }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Ends the waiting; requests that weren't taken can still be.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: Self.closed) }
    }

    private static let closed = MockServer.Failure("The server is shut down, and no request is left to take.")
}
