internal import Interception
internal import MidstreamCore

/// The requests that take tokens of one bucket, and those that wait for theirs.
///
/// For each request that waits there is a token still to come. The first waits until the next token's time, the others until they are
/// first. When a request leaves, those behind it move up, and the last of the tokens is given back.
final class QuotaQueue: Sendable {
    enum Admission: Sendable {
        case granted
        /// Its turn comes after so many nanoseconds at the latest.
        case waits(Place, Int64)
        case refused(wait: Int64)
    }

    /// A request that waits.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variable is only touched while the lock of the queue is held.
    final class Place: @unchecked Sendable {
        fileprivate var suspension: Suspension<Void>?
        fileprivate init() {}
    }

    private struct State {
        var bucket: TokenBucket
        var places: [Place] = []
        /// When the tokens come, the earliest first: as many as there are places.
        var tokens: [Int64] = []
        /// Whether other buckets decide about requests as well.
        var isOneOfSeveral: Bool
    }

    private enum Turn {
        case now(next: Suspension<Void>?)
        case later(Suspension<Void>, after: Duration?)
    }

    private let state: Locked<State>

    /// - Parameter isOneOfSeveral: Whether other buckets decide about requests as well.
    init(_ bucket: TokenBucket, isOneOfSeveral: Bool = false) {
        state = Locked(State(bucket: bucket, isOneOfSeveral: isOneOfSeveral))
    }

    /// Takes a token if there is one and no other bucket decides as well.
    func takeAtOnce(at now: Int64) -> Bool {
        state.withLock { !$0.isOneOfSeveral && $0.bucket.reserve(at: now, waitingAtMost: 0) == .sends(after: 0) }
    }

    /// Whether nobody waits, and the bucket equals a new one.
    func isIdle(at now: Int64) -> Bool { state.withLock { $0.places.isEmpty && $0.bucket.isFull(at: now) } }

    /// How many requests wait.
    var waiting: Int { state.withLock { $0.places.count } }

    /// From now on other buckets decide as well.
    func becomeOneOfSeveral() { state.withLock { $0.isOneOfSeveral = true } }

    /// Takes a token, or a place.
    ///
    /// - Parameter most: How long the request may wait, in nanoseconds.
    func enter(at now: Int64, waitingAtMost most: Int64) -> Admission {
        state.withLock { state in
            switch state.bucket.reserve(at: now, waitingAtMost: most) {
            case .refuses(let wait): return .refused(wait: wait)
            case .sends(0): return .granted
            case .sends(let wait):
                let place = Place()
                let behind = state.tokens.lastIndex { $0 <= now &+ wait }.map { $0 + 1 } ?? 0
                state.tokens.insert(now &+ wait, at: behind)
                state.places.insert(place, at: behind)
                return .waits(place, wait)
            }
        }
    }

    /// Waits for its turn, and takes the token.
    ///
    /// - Parameter time: The present time on the clock of the timer.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(_ place: Place, on timer: ClockTimer, _ time: () -> Int64) async throws {
        while true {
            switch turn(of: place, at: time()) {
            case .now(let next):
                next?.resume()
                return
            case .later(let suspension, let delay):
                guard case .cancelled = await suspension.wait(for: delay, on: timer) else { continue }
                leave(place)
                throw CancellationError()
            }
        }
    }

    /// A token that was taken isn't used: the first that waits has it, and the others move up.
    func giveBack() {
        let first = state.withLock { state -> Suspension<Void>? in
            state.bucket.giveBack()
            guard !state.tokens.isEmpty else { return nil }
            state.tokens.removeLast()
            state.tokens.insert(.min, at: 0)
            return state.places.first?.suspension
        }
        first?.resume()
    }

    /// Applies the limits of a response.
    func learn(_ said: RateLimitFields.Limit, retryAfter: Int64?, isThrottled: Bool, at now: Int64) {
        state.withLock { $0.bucket.learn(said, retryAfter: retryAfter, isThrottled: isThrottled, at: now) }
    }

    private func leave(_ place: Place) {
        let next = state.withLock { state in
            let isFirst = state.places.first === place
            state.places.removeAll { $0 === place }
            state.tokens.removeLast()
            state.bucket.giveBack()
            return isFirst ? state.places.first?.suspension : nil
        }
        next?.resume()
    }

    /// Takes the token, or says how to wait: the first for the next token, the others until they are first.
    private func turn(of place: Place, at now: Int64) -> Turn {
        state.withLock { state in
            let isFirst = state.places.first === place
            if isFirst, state.tokens[0] <= now {
                state.places.removeFirst()
                state.tokens.removeFirst()
                return .now(next: state.places.first?.suspension)
            }
            let suspension = Suspension<Void>()
            place.suspension = suspension
            return .later(suspension, after: isFirst ? .nanoseconds(state.tokens[0] &- now) : nil)
        }
    }
}
