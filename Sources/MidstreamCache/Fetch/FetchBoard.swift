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
    }

    private struct State {
        var flights: [CacheKey: Flight] = [:]
        /// Until when a key is passed.
        var passes: [CacheKey: Date] = [:]
    }

    /// How long the answer to a key is taken for one that mayn't be shared, in seconds.
    private static let passTime = 120.0
    private static let maximumPasses = 10_000
    private let state = Locked(State())

    func role(for key: CacheKey, now: Date) -> Role {
        state.withLock { state in
            if let flight = state.flights[key] { return .joins(flight) }
            if let end = state.passes[key] {
                // A clock that went back doesn't prolong it.
                if now < end, end.timeIntervalSince(now) <= Self.passTime { return .passes }
                state.passes[key] = nil
            }
            let flight = Flight()
            state.flights[key] = flight
            return .leads(flight)
        }
    }

    /// Lets nobody join a fetch any more.
    func close(_ key: CacheKey, _ flight: Flight) {
        state.withLock { state in
            if state.flights[key] === flight { state.flights[key] = nil }
        }
    }

    /// Lets nobody join the fetches of a URL, or any, any more.
    func closeAll(where isMeant: (CacheKey) -> Bool) {
        state.withLock { state in
            for key in state.flights.keys where isMeant(key) { state.flights[key] = nil }
        }
    }

    /// Whether what a key answers mayn't be shared.
    func note(_ key: CacheKey, isShareable: Bool, now: Date) {
        state.withLock { state in
            guard !isShareable else {
                if !state.passes.isEmpty { state.passes[key] = nil }
                return
            }
            if state.passes.count >= Self.maximumPasses {
                state.passes = state.passes.filter { now < $0.value }
                if state.passes.count >= Self.maximumPasses { state.passes = [:] }
            }
            state.passes[key] = now.addingTimeInterval(Self.passTime)
        }
    }
}
