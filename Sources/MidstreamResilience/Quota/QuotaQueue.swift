internal import Interception
internal import MidstreamCore

/// The requests that take tokens of one bucket, and those that wait for theirs.
///
/// Who waits has a place, and there is a token still to come for each place. Whenever one comes, whoever is first takes it. So when somebody
/// leaves, all behind him move up, and the last of the tokens is given back.
final class QuotaQueue: Sendable {
    enum Admission: Sendable {
        case granted
        /// Until it is first, and a token comes: for so many nanoseconds at most.
        case waits(Place, Int64)
        case refused(wait: Int64)
    }

    /// Somebody who waits.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the lock of the queue is held.
    final class Place: @unchecked Sendable {
        fileprivate var isGranted = false
        fileprivate var continuation: UnsafeContinuation<Void, any Error>?
        fileprivate init() {}
    }

    /// A token that is still to come.
    private struct Token {
        let number: UInt64
        let time: Int64
        let alarm: Task<Void, Never>
    }

    private struct State {
        var bucket: TokenBucket
        /// In order: each will have the token of the same number at the latest.
        var places: [Place] = []
        /// By their times.
        var tokens: [Token] = []
        var lastNumber: UInt64 = 0
        /// Whether it isn't this bucket alone that decides about requests.
        var isOneOfSeveral: Bool

        /// The first one's turn has come.
        mutating func grantFirst() -> UnsafeContinuation<Void, any Error>? {
            guard !places.isEmpty else { return nil }
            let place = places.removeFirst()
            place.isGranted = true
            defer { place.continuation = nil }
            return place.continuation
        }
    }

    private let state: Locked<State>

    /// - Parameter isOneOfSeveral: Whether it isn't this bucket alone that decides about requests.
    init(_ bucket: TokenBucket, isOneOfSeveral: Bool = false) {
        state = Locked(State(bucket: bucket, isOneOfSeveral: isOneOfSeveral))
    }

    /// Takes a token if there is one, and nobody else is to be asked; otherwise nothing.
    func takeAtOnce(at now: Int64) -> Bool {
        state.withLock { !$0.isOneOfSeveral && $0.bucket.reserve(at: now, waitingAtMost: 0) == .sends(after: 0) }
    }

    /// Whether nobody waits, and the bucket is as a new one would be.
    func isIdle(at now: Int64) -> Bool { state.withLock { $0.places.isEmpty && $0.bucket.isFull(at: now) } }

    /// From now on it isn't this bucket alone that decides.
    func becomeOneOfSeveral() { state.withLock { $0.isOneOfSeveral = true } }

    /// Takes a token, or a place.
    ///
    /// - Parameters:
    ///   - most: How long the request may wait, in nanoseconds.
    ///   - left: How long it has, if there is a limit; it isn't worth waiting for all of that.
    ///   - clock: On which it waits.
    func enter(
        at now: Int64, waitingAtMost most: Int64, left: Duration?, on clock: any Clock<Duration>
    ) -> Admission {
        state.withLock { state in
            switch state.bucket.reserve(at: now, waitingAtMost: most) {
            case .refuses(let wait): return .refused(wait: wait)
            case .sends(0): return .granted
            case .sends(let wait):
                if let left, left.wholeNanoseconds <= wait {
                    state.bucket.giveBack()
                    return .refused(wait: wait)
                }
                let place = Place()
                let token = token(after: wait, at: now &+ wait, on: clock, &state)
                let behind = state.tokens.lastIndex { $0.time <= token.time }.map { $0 + 1 } ?? 0
                state.tokens.insert(token, at: behind)
                state.places.insert(place, at: behind)
                return .waits(place, wait)
            }
        }
    }

    /// Waits for its turn.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(_ place: Place) async throws {
        do {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { continuation in
                    let result: Result<Void, any Error>? = state.withLock { _ in
                        if place.isGranted { return .success(()) }
                        // Asked under the lock: a cancellation that comes later finds the continuation.
                        if Task.isCancelled { return .failure(CancellationError()) }
                        place.continuation = continuation
                        return nil
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                let continuation = state.withLock { _ in
                    defer { place.continuation = nil }
                    return place.continuation
                }
                continuation?.resume(throwing: CancellationError())
            }
        } catch {
            leave(place)
            throw error
        }
    }

    /// A token that was taken isn't used: whoever is first has it.
    func giveBack() {
        let (first, alarm) = state.withLock { state in (state.grantFirst(), giveBackLast(&state)) }
        alarm?.cancel()
        first?.resume()
    }

    /// Takes in what a response says.
    func learn(_ said: RateLimitFields.Limit, retryAfter: Int64?, isThrottled: Bool, at now: Int64) {
        state.withLock { $0.bucket.learn(said, retryAfter: retryAfter, isThrottled: isThrottled, at: now) }
    }

    /// Somebody waits no more, whose turn may have come meanwhile.
    private func leave(_ place: Place) {
        let (first, alarm) = state.withLock { state in
            let first = place.isGranted ? state.grantFirst() : nil
            state.places.removeAll { $0 === place }
            return (first, giveBackLast(&state))
        }
        alarm?.cancel()
        first?.resume()
    }

    private func giveBackLast(_ state: inout State) -> Task<Void, Never>? {
        state.bucket.giveBack()
        return state.tokens.popLast()?.alarm
    }

    private func token(after wait: Int64, at time: Int64, on clock: any Clock<Duration>, _ state: inout State) -> Token {
        state.lastNumber += 1
        let number = state.lastNumber
        // It is in the list before it can come: that takes the lock. One that is cancelled isn't there any more, and a clock that fails
        // leaves nobody waiting.
        let alarm = CallersExecutor().startDetached { [self] in
            try? await clock.pause(for: .nanoseconds(wait))
            came(number)
        }
        return Token(number: number, time: time, alarm: alarm)
    }

    private func came(_ number: UInt64) {
        let first = state.withLock { state -> UnsafeContinuation<Void, any Error>? in
            guard let token = state.tokens.firstIndex(where: { $0.number == number }) else { return nil }
            state.tokens.remove(at: token)
            return state.grantFirst()
        }
        first?.resume()
    }
}
