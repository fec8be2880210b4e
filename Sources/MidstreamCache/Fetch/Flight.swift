internal import Interception
internal import MidstreamCore

/// A response that may answer others than who asked for it.
struct SharedResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case arriving(SharedBody)
    }

    let head: StoredHead
    let body: Body

    var isArriving: Bool {
        switch body {
        case .bytes: false
        case .arriving: true
        }
    }
}

/// One fetch for all who miss the same key at the same time. It runs in a task of its own, which is cancelled when the last of them leaves
/// before there is a head.
final class Flight: Sendable {
    /// What a fetch brings: the response of who leads it, and what others may have of it.
    struct Landing: Sendable {
        var response: HTTPResponse
        var shared: SharedResponse?
    }

    /// What somebody gets who waited.
    enum Share: Sendable {
        /// The response is the leader's.
        case own(HTTPResponse)
        /// The head, and a body to read.
        case shared(StoredHead, HTTPBody)
        /// Nothing; it may send its own request.
        case nothing
    }

    private struct State {
        var nextTicket = 0
        var waiters: [Int: CheckedContinuation<Share, any Error>] = [:]
        var landed: SharedResponse?
        var isOver = false
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Leads the fetch: starts it, and waits as all others do.
    ///
    /// - Parameter onHead: Called when the head is there, or the fetch has failed, before anybody gets it.
    func lead(
        _ fetch: @escaping @Sendable () async throws -> Landing, onHead: @escaping @Sendable (SharedResponse?) -> Void
    ) async throws -> Share {
        do {
            return try await wait { ticket in
                let task = CallersExecutor().startAtOnce {
                    do {
                        let landing = try await fetch()
                        onHead(landing.shared)
                        self.land(landing, leader: ticket)
                    } catch {
                        onHead(nil)
                        self.fail(error)
                    }
                }
                // Who has left by now found no task to cancel.
                let isAbandoned = self.state.withLock { state in
                    state.task = task
                    return state.waiters.isEmpty && !state.isOver
                }
                if isAbandoned { task.cancel() }
            }
        } catch {
            // One that was cancelled before it began has others waiting for nothing.
            if state.withLock({ $0.task == nil }) {
                onHead(nil)
                for waiter in close(landed: nil).values { waiter.resume(returning: .nothing) }
            }
            throw error
        }
    }

    /// Waits for what another one has asked for, or takes part in what is arriving; nil when it is over.
    func join() async throws -> Share? {
        let (isOver, landed) = state.withLock { ($0.isOver, $0.landed) }
        if isOver { return landed.flatMap(Self.share) }
        return try await wait { _ in }
    }

    /// How many wait for the head.
    var waiting: Int { state.withLock { $0.waiters.count } }

    private func wait(_ began: @Sendable (Int) -> Void) async throws -> Share {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            do {
                return try await withCheckedThrowingContinuation { waiter in
                    let share = state.withLock { state -> Result<Share, any Error>? in
                        if Task.isCancelled { return .failure(CancellationError()) }
                        if state.isOver { return .success(state.landed.flatMap(Self.share) ?? .nothing) }
                        state.waiters[ticket] = waiter
                        return nil
                    }
                    if let share { waiter.resume(with: share) } else { began(ticket) }
                }
            } catch let error as CancellationError {
                // Who leaves last sees to it that nothing goes on behind their back.
                if let task = abandonedTask() { await task.value }
                throw error
            }
        } onCancel: {
            leave(ticket)
        }
    }

    private func leave(_ ticket: Int) {
        let (waiter, task) = state.withLock { state -> (CheckedContinuation<Share, any Error>?, Task<Void, Never>?) in
            guard let waiter = state.waiters.removeValue(forKey: ticket) else { return (nil, nil) }
            return (waiter, state.waiters.isEmpty && !state.isOver ? state.task : nil)
        }
        task?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    private func abandonedTask() -> Task<Void, Never>? {
        state.withLock { state in state.waiters.isEmpty && state.landed == nil ? state.task : nil }
    }

    private func land(_ landing: Landing, leader: Int) {
        let waiters = close(landed: landing.shared)
        if waiters[leader] == nil { landing.response.body.close() }
        for (ticket, waiter) in waiters {
            let share = ticket == leader ? .own(landing.response) : landing.shared.flatMap(Self.share) ?? .nothing
            waiter.resume(returning: share)
        }
    }

    private func fail(_ error: any Error) {
        for waiter in close(landed: nil).values { waiter.resume(throwing: error) }
    }

    private func close(landed: SharedResponse?) -> [Int: CheckedContinuation<Share, any Error>] {
        state.withLock { state in
            state.isOver = true
            state.landed = landed
            defer { state.waiters = [:] }
            return state.waiters
        }
    }

    private static func share(_ shared: SharedResponse) -> Share? {
        switch shared.body {
        case .bytes(let bytes): .shared(shared.head, .bytes(bytes))
        case .arriving(let body): body.join().map { .shared(shared.head, .incoming($0, length: body.length)) }
        }
    }
}
