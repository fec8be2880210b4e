internal import Interception

/// The requests of one key that are under way, and those that wait to be.
final class Permits: ScopeState {
    /// What became of a request that asks for a permit.
    enum Admission: Sendable {
        case granted
        case waits(Waiter)
        case refused(inFlight: Int, limit: Int, queued: Int)
    }

    /// Somebody in the queue.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the lock of the permits is held.
    final class Waiter: @unchecked Sendable {
        fileprivate enum State { case waiting, granted, refused, gone }
        fileprivate var state = State.waiting
        fileprivate var continuation: UnsafeContinuation<Bool, any Error>?
        fileprivate let isSheddable: Bool
        fileprivate init(isSheddable: Bool) { self.isSheddable = isSheddable }
    }

    struct Snapshot: Sendable {
        let limit: Int
        let inFlight: Int
        let queued: Int
    }

    private struct State {
        var adaptive: AdaptiveLimit?
        let fixed: Int
        var inFlight = 0
        var queue: [Waiter] = []
        var latencies = Latencies()

        var limit: Int { adaptive?.whole ?? fixed }

        /// Whether there is a permit; a tenth of them, one at least, is kept from the sheddable. Who waits has none: whenever one comes
        /// back or the limit grows it is given to them.
        func hasPermit(isSheddable: Bool) -> Bool {
            inFlight < (isSheddable ? max(1, limit - max(1, limit / 10)) : limit)
        }

        mutating func answered(after time: Int64, at now: Int64) {
            latencies.record(time, at: now)
            adaptive?.answered(after: time, inFlight: inFlight, at: now)
        }
    }

    let key: String
    private let places: Int
    private let state: Locked<State>

    init(_ key: String, _ limit: ConcurrencyLimit.Limit, queue: Int) {
        self.key = key
        places = max(0, queue)
        switch limit.kind {
        case .fixed(let count): state = Locked(State(adaptive: nil, fixed: max(1, count)))
        case .adaptive(let start, let range): state = Locked(State(adaptive: AdaptiveLimit(start: start, in: range), fixed: 0))
        }
    }

    var snapshot: Snapshot {
        state.withLock { Snapshot(limit: $0.limit, inFlight: $0.inFlight, queued: $0.queue.count) }
    }

    func isIdle(at now: Int64) -> Bool { state.withLock { $0.inFlight == 0 && $0.queue.isEmpty } }

    func quantile(_ share: Double, at now: Int64) -> Duration? { state.withLock { $0.latencies.quantile(share, at: now) } }

    /// Takes a permit, or a place in the queue.
    ///
    /// - Parameters:
    ///   - isSheddable: Leaves a tenth of the limit to others, and its place in a full queue.
    ///   - mayWait: Whether it takes a place in the queue.
    func enter(isSheddable: Bool, mayWait: Bool) -> Admission {
        let (admission, evicted): (Admission, UnsafeContinuation<Bool, any Error>?) = state.withLock { state in
            if state.hasPermit(isSheddable: isSheddable) {
                state.inFlight += 1
                return (.granted, nil)
            }
            let refusal = Admission.refused(inFlight: state.inFlight, limit: state.limit, queued: state.queue.count)
            guard mayWait, places > 0 else { return (refusal, nil) }
            var evicted: UnsafeContinuation<Bool, any Error>?
            if state.queue.count >= places {
                guard !isSheddable, let place = state.queue.lastIndex(where: \.isSheddable) else { return (refusal, nil) }
                let waiter = state.queue.remove(at: place)
                waiter.state = .refused
                evicted = waiter.continuation
                waiter.continuation = nil
            }
            let waiter = Waiter(isSheddable: isSheddable)
            state.queue.append(waiter)
            return (.waits(waiter), evicted)
        }
        evicted?.resume(returning: false)
        return admission
    }

    /// Waits for a permit.
    ///
    /// - Returns: Whether there is one; otherwise another request has taken the place.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(_ waiter: Waiter) async throws -> Bool {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let result: Result<Bool, any Error>? = state.withLock { state in
                    switch waiter.state {
                    case .granted: return .success(true)
                    case .refused: return .success(false)
                    case .gone: return .failure(CancellationError())
                    case .waiting:
                        // Asked under the lock: a cancellation that comes later finds the continuation.
                        if Task.isCancelled { return .failure(CancellationError()) }
                        waiter.continuation = continuation
                        return nil
                    }
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { _ in
                defer { waiter.continuation = nil }
                return waiter.continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Gives up a wait that ended without anybody taking its permit, which may have been granted meanwhile.
    func abandon(_ waiter: Waiter) {
        let wasGranted = state.withLock { state in
            defer { waiter.state = .gone }
            state.queue.removeAll { $0 === waiter }
            return waiter.state == .granted
        }
        if wasGranted { leave() }
    }

    /// The head of a response is there.
    func answered(after time: Int64, at now: Int64) {
        let next = state.withLock { state in
            state.answered(after: time, at: now)
            return admitNext(&state)
        }
        for continuation in next { continuation.resume(returning: true) }
    }

    /// The server can't keep up.
    ///
    /// - Parameter start: When the request was begun.
    /// - Returns: The limit before and after, if it has changed.
    func failed(begunAt start: Int64, at now: Int64) -> (before: Int, after: Int)? {
        state.withLock { state in
            let before = state.limit
            guard state.adaptive?.failed(begunAt: start, at: now) == true, state.limit < before else { return nil }
            return (before, state.limit)
        }
    }

    /// Returns a permit.
    ///
    /// - Parameters:
    ///   - latency: After how many nanoseconds the head of the response came; nil when that is known already, or no news.
    ///   - now: Counts with it only.
    func leave(answeredAfter latency: Int64? = nil, at now: Int64 = 0) {
        let next = state.withLock { state -> [UnsafeContinuation<Bool, any Error>] in
            if let latency { state.answered(after: latency, at: now) }
            state.inFlight -= 1
            return admitNext(&state)
        }
        for continuation in next { continuation.resume(returning: true) }
    }

    /// Gives free permits to those who wait: to those who came first, and under pressure to those who came last, since the others are
    /// likely to have been given up by the time they would be answered.
    private func admitNext(_ state: inout State) -> [UnsafeContinuation<Bool, any Error>] {
        var next: [UnsafeContinuation<Bool, any Error>] = []
        while !state.queue.isEmpty {
            let isPressed = state.queue.count * 2 > places
            let ordinary = isPressed ? state.queue.lastIndex { !$0.isSheddable } : state.queue.firstIndex { !$0.isSheddable }
            guard state.hasPermit(isSheddable: ordinary == nil) else { break }
            let waiter = state.queue.remove(at: ordinary ?? (isPressed ? state.queue.count - 1 : 0))
            waiter.state = .granted
            state.inFlight += 1
            if let continuation = waiter.continuation { next.append(continuation) }
            waiter.continuation = nil
        }
        return next
    }
}
