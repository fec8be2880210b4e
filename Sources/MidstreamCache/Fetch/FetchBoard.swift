internal import Foundation
internal import Interception

/// Which fetches are under way that others may share, and which keys aren't worth waiting for.
final class FetchBoard: Sendable {
    /// What a request that misses does.
    enum Role: Sendable {
        /// It asks for all.
        case leads(Flight)
        /// Another asks, or has asked just now.
        case joins(Flight)
        /// It asks for itself, since what is answered mayn't be shared.
        case passes
        /// Another's fetch has ended since it looked, and may have stored something.
        case looksAgain
    }

    fileprivate struct State {
        var flights: [CacheKey: Flight] = [:]
        /// Until when a key is passed.
        var passes: [CacheKey: Date] = [:]
        /// The fetch that has ended last, and when.
        var latest: (key: CacheKey, end: Date)?
    }

    /// How long the answer to a key is taken for one that mayn't be shared, in seconds.
    fileprivate static let passTime = 120.0
    fileprivate static let maximumPasses = 10_000
    private let state = Locked(State())

    /// - Parameters:
    ///   - start: When the request began to look for what is stored; nil: it doesn't look again.
    ///   - removals: Those of the store. What is removed while a fetch is under way makes that one nobody joins any more.
    func role(for key: CacheKey, lookingSince start: Date?, now: Date, _ removals: CacheRemovals) -> Role {
        state.withLock { state in
            if !state.passes.isEmpty, let end = state.passes[key] {
                // A clock that went back doesn't prolong it.
                let isPassed = now < end && end.timeIntervalSince(now) <= Self.passTime
                if isPassed {
                    guard let flight = state.flights[key], flight.permit.holds(for: key) else { return .passes }
                    return .joins(flight)
                }
                state.passes[key] = nil
            }
            // One lookup, whether there is one or not.
            var isNew = false
            func begun() -> Flight {
                isNew = true
                return Flight(removals.permit())
            }
            // Those of one moment mostly want the same, and would each fetch it once more.
            if let start, let latest = state.latest, latest.end >= start, latest.key == key, state.flights[key] == nil {
                return .looksAgain
            }
            let flight = Self.read(&state.flights[key, default: begun()])
            if isNew { return .leads(flight) }
            if flight.permit.holds(for: key) { return .joins(flight) }
            let newer = Flight(removals.permit())
            state.flights[key] = newer
            return .leads(newer)
        }
    }

    private static func read(_ flight: inout Flight) -> Flight { flight }

    /// Lets nobody join a fetch any more that has failed.
    func close(_ key: CacheKey, _ flight: Flight) { state.withLock { $0.close(key, flight) } }

    /// Lets nobody join a fetch any more whose body has come to its end, or isn't kept for others.
    func end(_ key: CacheKey, _ flight: Flight, now: Date) { state.withLock { $0.end(key, flight, now) } }

    /// Notes what a fetch has brought: whether others may have it, and whether they may still join it, since it is arriving.
    func land(_ key: CacheKey, _ flight: Flight, _ shared: SharedResponse?, now: Date) {
        state.withLock { state in
            state.note(key, isShareable: shared != nil, now: now)
            if shared?.isArriving != true { state.end(key, flight, now) }
        }
    }

    /// Notes that what a key answers may be shared.
    func noteShareable(_ key: CacheKey) { state.withLock { $0.note(key, isShareable: true, now: .distantPast) } }
}

extension FetchBoard.State {
    fileprivate mutating func close(_ key: CacheKey, _ flight: Flight) {
        guard let place = flights.index(forKey: key), flights[place].value === flight else { return }
        flights.remove(at: place)
    }

    fileprivate mutating func end(_ key: CacheKey, _ flight: Flight, _ now: Date) {
        close(key, flight)
        latest = (key, now)
    }

    fileprivate mutating func note(_ key: CacheKey, isShareable: Bool, now: Date) {
        guard !isShareable else {
            if !passes.isEmpty { passes[key] = nil }
            return
        }
        if passes.count >= FetchBoard.maximumPasses {
            passes = passes.filter { now < $0.value }
            if passes.count >= FetchBoard.maximumPasses { passes = [:] }
        }
        passes[key] = now.addingTimeInterval(FetchBoard.passTime)
    }
}
