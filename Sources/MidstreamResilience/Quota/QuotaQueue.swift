internal import Interception

/// The requests that take tokens of one bucket, and those that wait for theirs.
///
/// For each request that waits there is a token still to come. The first waits until the next token's time, the others until they are
/// first. When a request leaves, or a token is given back, those behind it move up. When the server says something, the tokens come later or
/// earlier, and requests for which that is too late are let go.
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
        /// With the tokens of those who are sent taken out.
        var bucket: TokenBucket
        /// With those of all who wait taken out as well; nil: nobody waits.
        var promised: TokenBucket?
        var places: [Place] = []
        /// When the tokens come, the earliest first: as many as there are places.
        var tokens: [Int64] = []
        /// Whether other buckets decide about requests as well.
        var isOneOfSeveral: Bool

        mutating func add(_ place: Place, for token: Int64, _ promised: TokenBucket) {
            places.append(place)
            tokens.append(token)
            self.promised = promised
        }

        mutating func removeFirst() {
            places.removeFirst()
            tokens.removeFirst()
            if places.isEmpty { promised = nil }
        }

        /// Has those who wait take their tokens anew, in their order, after the bucket has changed or one of them has left.
        ///
        /// - Parameter lettingGo: Whether those go for whom that becomes too late.
        /// - Returns: Who has to look again.
        mutating func arrange(_ waiting: [Place], at now: Int64, lettingGo: Bool = false) -> [Suspension<Void>] {
            let before = (place: places.first, token: tokens.first)
            var woken: [Suspension<Void>?] = []
            var promised = bucket
            (places, tokens, self.promised) = ([], [], nil)
            for place in waiting {
                switch promised.reserve(at: now, waitingAtMost: lettingGo ? max(0, place.latest &- now) : .max) {
                case .sends(let wait): add(place, for: now &+ wait, promised)
                case .refuses(let wait):
                    place.refusal = wait
                    woken.append(place.suspension)
                }
            }
            // The first alone watches the time.
            if places.first !== before.place || tokens.first != before.token { woken.append(places.first?.suspension) }
            return woken.compactMap { $0 }
        }
    }

    private enum Turn {
        case now(next: Suspension<Void>?)
        case never(wait: Int64)
        case later(Suspension<Void>, after: Duration?)
    }

    private let state: Locked<State>

    init(_ bucket: TokenBucket, isOneOfSeveral: Bool = false) {
        state = Locked(State(bucket: bucket, isOneOfSeveral: isOneOfSeveral))
    }

    /// Takes a token if there is one and no other bucket decides as well.
    func takeAtOnce(at now: Int64) -> Bool {
        state.withLock { state in
            guard !state.isOneOfSeveral, state.places.isEmpty else { return false }
            return state.bucket.reserve(at: now, waitingAtMost: 0) == .sends(after: 0)
        }
    }

    /// Whether nobody waits, and the bucket equals a new one.
    func isIdle(at now: Int64) -> Bool { state.withLock { $0.places.isEmpty && $0.bucket.isFull(at: now) } }

    /// How many requests wait.
    var waiting: Int { state.withLock { $0.places.count } }

    /// From now on other buckets decide as well.
    func becomeOneOfSeveral() { state.withLock { $0.isOneOfSeveral = true } }

    /// Takes a token, or a place to wait for so many nanoseconds at most. Not inlined, as looking for one's turn isn't, so that copies of
    /// the bucket aren't part of the frame that waits.
    @inline(never)
    func enter(at now: Int64, waitingAtMost most: Int64) -> Admission {
        state.withLock { state in
            var promised = state.promised ?? state.bucket
            switch promised.reserve(at: now, waitingAtMost: most) {
            case .refuses(let wait): return .refused(wait: wait)
            case .sends(0) where state.places.isEmpty:
                state.bucket = promised
                return .granted
            case .sends(let wait):
                // A rate that has been slowed recovers: its token may come before those of the others, after whom it is sent.
                let token = max(now &+ wait, state.tokens.last ?? .min)
                guard token &- now <= most else { return .refused(wait: token &- now) }
                let place = Place(at: now, waitingAtMost: most)
                state.add(place, for: token, promised)
                return .waits(place, token &- now)
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
    func giveBack(at now: Int64) {
        let woken = state.withLock { state in
            state.bucket.giveBack()
            return state.arrange(state.places, at: now)
        }
        for suspension in woken { suspension.resume() }
    }

    /// The request that a token was taken for then hasn't reached the server, which has as many left as before.
    func giveBackLeft(takenAt taken: Int64, at now: Int64) {
        let woken = state.withLock { state -> [Suspension<Void>] in
            guard state.bucket.giveBackLeft(takenAt: taken), !state.places.isEmpty else { return [] }
            return state.arrange(state.places, at: now)
        }
        for suspension in woken { suspension.resume() }
    }

    /// Applies the limits of a response, also to those who wait already.
    func learn(
        _ said: RateLimitFields.Limit, retryAfter: Int64?, isThrottled: Bool, begunAt begun: Int64, at now: Int64
    ) {
        let woken = state.withLock { state -> [Suspension<Void>] in
            let (before, waiting) = (state.bucket, state.places.count)
            state.bucket.learn(said, retryAfter: retryAfter, isThrottled: isThrottled, begunAt: begun, at: now)
            guard waiting > 0 else { return [] }
            guard state.bucket.sends(waiting, as: before) else {
                return state.arrange(state.places, at: now, lettingGo: true)
            }
            // Most responses say that there is enough for all of them.
            state.promised?.takeLeft(of: state.bucket, without: waiting)
            return []
        }
        for suspension in woken { suspension.resume() }
    }

    /// Those behind it move up, and the last of the tokens is given back.
    private func leave(_ place: Place) {
        let next = state.withLock { state -> Suspension<Void>? in
            guard let number = state.places.firstIndex(where: { $0 === place }) else { return nil }
            state.places.remove(at: number)
            state.tokens.removeLast()
            state.promised?.giveBack()
            if state.places.isEmpty { state.promised = nil }
            return number == 0 ? state.places.first?.suspension : nil
        }
        next?.resume()
    }

    /// Takes the token, or says how to wait: the first for the next token, the others until they are first.
    @inline(never)
    private func turn(of place: Place, at now: Int64) -> Turn {
        state.withLock { state in
            if let wait = place.refusal { return .never(wait: wait) }
            let isFirst = state.places.first === place
            if isFirst, state.tokens[0] <= now {
                // At its own time, however late it is noticed: what has come since is for those behind it.
                state.bucket.take(at: state.tokens[0])
                state.removeFirst()
                return .now(next: state.places.first?.suspension)
            }
            let suspension = Suspension<Void>()
            place.suspension = suspension
            return .later(suspension, after: isFirst ? .nanoseconds(state.tokens[0] &- now) : nil)
        }
    }
}
