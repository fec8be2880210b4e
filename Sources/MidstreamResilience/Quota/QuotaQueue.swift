internal import Interception
internal import MidstreamCore

/// The requests that take tokens of one bucket, and those that wait for theirs.
///
/// For each request that waits there is a token still to come. The first waits until the next token's time, the others until they are
/// first. When a request leaves, those behind it move up, and the last of the tokens is given back. When the server wants to be left alone,
/// the tokens come later, and requests for which that is too late are let go.
final class QuotaQueue: Sendable {
    enum Admission: Sendable {
        case granted
        /// Its turn comes after so many nanoseconds at the latest.
        case waits(Place, Int64)
        case refused(wait: Int64)
    }

    /// A request that waits.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because the variables are only touched while the lock of the queue is held.
    final class Place: @unchecked Sendable {
        fileprivate var suspension: Suspension<Void>?
        /// For how long it would have had to wait, when it was let go for that.
        fileprivate var refusal: Int64?
        /// When its turn has to have come.
        fileprivate let latest: Int64

        fileprivate init(at now: Int64, waitingAtMost most: Int64) {
            let (latest, isPastAll) = now.addingReportingOverflow(most)
            self.latest = isPastAll ? .max : latest
        }
    }

    private struct State {
        var bucket: TokenBucket
        var places: [Place] = []
        /// When the tokens come, the earliest first: as many as there are places.
        var tokens: [Int64] = []
        /// Whether other buckets decide about requests as well.
        var isOneOfSeveral: Bool

        /// Has the tokens come when the server takes requests again, and lets those go for whom that is too late: the others move up.
        ///
        /// - Returns: Who has to look again.
        mutating func postpone(at now: Int64) -> [Suspension<Void>] {
            let waiting = places.count
            guard let first = tokens.first, bucket.silence(for: waiting - 1, of: waiting) > first else { return [] }
            for number in tokens.indices { tokens[number] = max(tokens[number], bucket.silence(for: number, of: waiting)) }
            var (kept, gone) = ([Place](), [Place]())
            for place in places {
                let token = tokens[kept.count]
                if token <= place.latest {
                    kept.append(place)
                } else {
                    place.refusal = token &- now
                    gone.append(place)
                    bucket.giveBack()
                }
            }
            tokens.removeLast(gone.count)
            places = kept
            return (gone + kept.prefix(1)).compactMap(\.suspension)
        }
    }

    private enum Turn {
        case now(next: Suspension<Void>?)
        case never(wait: Int64)
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
                let place = Place(at: now, waitingAtMost: most)
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
    /// - Returns: Nil when it has the token; how long it would have to wait when that has become too long.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(_ place: Place, on timer: ClockTimer, _ time: () -> Int64) async throws -> Int64? {
        while true {
            switch turn(of: place, at: time()) {
            case .now(let next):
                next?.resume()
                return nil
            case .never(let wait): return wait
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
            state.tokens.insert(state.bucket.silence(for: 0, of: state.places.count), at: 0)
            return state.places.first?.suspension
        }
        first?.resume()
    }

    /// Applies the limits of a response, also to those who wait already.
    func learn(_ said: RateLimitFields.Limit, retryAfter: Int64?, isThrottled: Bool, at now: Int64) {
        let woken = state.withLock { state in
            state.bucket.learn(
                said, retryAfter: retryAfter, isThrottled: isThrottled, waiting: state.places.count, at: now)
            return state.postpone(at: now)
        }
        for suspension in woken { suspension.resume() }
    }

    private func leave(_ place: Place) {
        let next = state.withLock { state -> Suspension<Void>? in
            guard let number = state.places.firstIndex(where: { $0 === place }) else { return nil }
            state.places.remove(at: number)
            state.tokens.removeLast()
            state.bucket.giveBack()
            return number == 0 ? state.places.first?.suspension : nil
        }
        next?.resume()
    }

    /// Takes the token, or says how to wait: the first for the next token, the others until they are first.
    private func turn(of place: Place, at now: Int64) -> Turn {
        state.withLock { state in
            if let wait = place.refusal { return .never(wait: wait) }
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
