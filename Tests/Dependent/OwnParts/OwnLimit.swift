import Midstream
import Synchronization

/// At most so many exchanges at once; others wait in a queue until no time is left.
struct OwnLimit: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.concurrency
    let traits: InterceptorTraits = [.endsInTime, .impersonal]
    private let permits: Permits

    init(_ count: Int) { permits = Permits(count) }

    /// How many permits are free, and how many wait for one.
    var state: (free: Int, waiting: Int) { permits.counts }

    func intercept(
        _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        // A hedge that has to wait is of no use.
        if let place = try permits.enter(mayWait: !next.isHedge) {
            do {
                try await next.withinTimeLeft { try await place.wait() }
            } catch {
                permits.leave(place)
                throw error
            }
            request.record(CallEvent("own.limit.waited", "waited for a permit"))
        }
        do {
            var response = try await next(request)
            response.body = response.body.observedOnArrival(
                onChunk: { _ in }, onEnd: { [permits] _ in permits.giveBack() })
            return response
        } catch {
            permits.giveBack()
            throw error
        }
    }
}

private final class Permits: Sendable {
    struct Place: Sendable {
        let number: Int
        let grant = AsyncStream<Void>.makeStream()

        func wait() async throws {
            for await _ in grant.stream { return }
            throw CancellationError()
        }
    }

    private struct State {
        var free: Int
        var queue: [Place] = []
        var entered = 0
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    var counts: (free: Int, waiting: Int) { state.withLock { ($0.free, $0.queue.count) } }

    /// A place in the queue; nil: a permit was free, and is taken.
    func enter(mayWait: Bool) throws -> Place? {
        try state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            guard mayWait else { throw HTTPError(.overloaded, "No permit is free.", phase: .notSent) }
            state.entered += 1
            let place = Place(number: state.entered)
            state.queue.append(place)
            return place
        }
    }

    /// Gives up a place, or the permit that it has been granted meanwhile.
    func leave(_ place: Place) {
        let wasWaiting = state.withLock { state in
            let count = state.queue.count
            state.queue.removeAll { $0.number == place.number }
            return state.queue.count < count
        }
        if !wasWaiting { giveBack() }
    }

    func giveBack() {
        let next = state.withLock { state -> Place? in
            guard state.queue.isEmpty else { return state.queue.removeFirst() }
            state.free += 1
            return nil
        }
        next?.grant.continuation.yield()
    }
}
