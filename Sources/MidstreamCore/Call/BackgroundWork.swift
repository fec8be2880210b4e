internal import Foundation
package import Interception

/// Work that is done for a client while nobody waits for it, a few pieces at a time. It is cancelled when the client is released.
package final class BackgroundWork: Sendable {
    private struct State {
        var next = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private static let maximum = 32
    private let state = Locked(State())

    package init() {}

    deinit {
        for task in state.withLock({ $0.tasks }).values { task.cancel() }
    }

    /// How many pieces are under way.
    package var count: Int { state.withLock { $0.tasks.count } }

    /// Begins a piece of work, unless 32 are under way.
    ///
    /// - Parameter work: Mustn't hold the client.
    /// - Returns: Whether it was begun.
    package func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard state.tasks.count < Self.maximum else { return false }
            state.next += 1
            let number = state.next
            // Begun under the lock, so that its end finds it. With the task-local values of the caller it would hold the client.
            state.tasks[number] = CallersExecutor().startDetached { [weak self] in
                await work()
                self?.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
            }
            return true
        }
    }
}

/// Stands for a client that may be released meanwhile.
private final class AbsentOwner: CallOwner {
    let clock: any Clock<Duration>
    let stopwatch: Stopwatch
    let now: @Sendable () -> Date
    let random: @Sendable () -> Double
    let baseOrigin: OriginMatch?
    let attemptTimeout: Duration?
    let callDeadline: Duration?
    let retries: Int?
    let background = BackgroundWork()

    init(_ owner: any CallOwner) {
        clock = owner.clock
        stopwatch = owner.stopwatch
        now = owner.now
        random = owner.random
        baseOrigin = owner.baseOrigin
        attemptTimeout = owner.attemptTimeout
        callDeadline = owner.callDeadline
        retries = owner.retries
    }

    func speaker(_ number: Int, for request: HTTPRequest) -> String? { nil }

    /// Nobody waits for it, so nothing is tried again.
    func takeRetry() -> Bool { false }

    func planned(_ request: HTTPRequest) async throws -> PlannedRequest { .unknown("a client that is gone") }

    func sendAlternate(_ request: HTTPRequest, sharing: any ExchangeSharing) async throws -> HTTPResponse {
        throw CancellationError()
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// The rest of the pipeline for a call of its own, which has no deadline, the timeout of one attempt, and doesn't keep the client.
    ///
    /// - Parameter timeout: That of the request; nil: the client's.
    /// - Returns: The rest, and how long it may take.
    package func apart(from call: Call, timeout: Duration?) -> (next: Self, limit: Duration?) {
        let limit = timeout ?? call.owner.attemptTimeout
        let own = Call(
            owner: AbsentOwner(call.owner), requestID: .unique(), delivery: .streamed, checkedURL: call.checkedURL, recorder: nil)
        var next = self
        next.position = ChainPosition(run: own, timeout: own.due(in: limit))
        return (next, limit)
    }
}
