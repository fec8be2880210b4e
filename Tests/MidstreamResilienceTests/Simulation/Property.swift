import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport

@testable import MidstreamResilience

/// What must hold in any world.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
struct Property: Sendable {
    let name: String
    let holds: @Sendable (World, Inhabitant, Inhabitant.Seen) -> Bool

    init(_ name: String, _ holds: @escaping @Sendable (World, Inhabitant, Inhabitant.Seen) -> Bool) {
        (self.name, self.holds) = (name, holds)
    }

    static let all: [Property] = [
        Property("no call is lost, and none ends twice") { world, _, seen in
            world.report.stalled.isEmpty && seen.calls.values.allSatisfy { $0.ends == 1 }
        },
        Property("the report counts each call once") { world, _, _ in
            world.report.rows.reduce(0) { $0 + $1.calls } == world.calls
                && world.inhabitants.reduce(0) { $0 + $1.seen.withLock { $0.calls.count } } == world.calls
                && world.report.rows.allSatisfy { $0.good + $0.refused <= $0.calls && ($0.p50 == nil) == ($0.good == 0) }
        },
        Property("no more are under way than the limit allows") { _, who, seen in seen.most <= who.maximum && seen.excess == 0 },
        Property("permits return") { _, who, seen in seen.now == 0 && (who.limit.states[Inhabitant.key]?.inFlight ?? 0) == 0 },
        Property("the limit stays in its range") { _, who, _ in
            who.limit.states[Inhabitant.key].map { $0.limit >= 1 && $0.limit <= who.maximum } ?? true
        },
        Property("no more wait for a permit than the queue has places, and all leave it") { _, who, seen in
            seen.queued <= who.queue && (who.limit.states[Inhabitant.key]?.queued ?? 0) == 0
        },
        Property("one probe at a time") { _, _, seen in seen.mostProbing <= 1 && seen.probing == 0 },
        Property("nothing passes an open breaker") { _, _, seen in seen.passedOpen == 0 },
        Property("a breaker changes from the state in which it was to one that may follow") { _, _, seen in
            var state = "closed"
            return seen.changes.allSatisfy { change in
                guard case (.string(let from), .string(let to)) = (change.attributes["from"], change.attributes["to"]) else {
                    return false
                }
                defer { state = to }
                let next = ["closed": ["open"], "open": ["half open"], "half open": ["open", "closed"]]
                return from == state && next[state]?.contains(to) == true
            }
        },
        Property("a breaker that opens stays open for as long as it says") { _, _, seen in
            zip(zip(seen.changes, seen.changeTimes), seen.changeTimes.dropFirst()).allSatisfy { opening, end in
                guard case .number(let length) = opening.0.attributes["left"] else { return true }
                return (end - opening.1) / .seconds(1) >= length
            }
        },
        Property("a breaker opens when half of at least five have failed, and not before") { _, _, seen in
            seen.changes.map(\.attributes).filter { $0["from"] == "closed" }.allSatisfy {
                guard case (.integer(let exchanges), .integer(let failed)) = ($0["exchanges"], $0["failed"]) else { return false }
                return exchanges >= 5 && failed * 2 >= exchanges
            }
        },
        Property("after an outage a breaker finds out that the server is well again") { _, who, _ in
            who.breaker.state(of: Inhabitant.key, on: who.clock) == .closed
        },
        Property("hedges stay within their budget") { _, who, _ in
            guard let state = who.hedging.states[Inhabitant.key] else { return true }
            return state.hedges >= 0 && Double(state.hedges) <= 0.05 * Double(state.exchanges) + 2 + 1e-6
        },
        Property("no hedge is sent that the budget doesn't know of") { _, who, seen in
            seen.hedges <= who.hedging.states[Inhabitant.key]?.hedges ?? 0
        },
        Property("only what is safe is hedged, and once at a time") { _, _, seen in seen.unsafeHedges == 0 && seen.mostOpen <= 2
        },
        Property("no call makes more attempts than it may") { _, _, seen in
            seen.exchanges.values.allSatisfy { $0 <= 1 + Inhabitant.retries }
        },
        Property("retries stay within their budget") { world, _, seen in
            let exchanges = world.inhabitants.reduce(0) { sum, who in
                sum + who.seen.withLock { $0.exchanges.values.reduce(0) { $0 + $1 - 1 } }
            }
            // What may be spent in each window of 10 s, of which two may overlap with any second.
            let windows = Double(world.seconds / 10 + 2)
            return Double(exchanges) <= 0.2 * Double(world.calls) + 10 * windows * Double(world.inhabitants.count)
        },
        Property("the quota is never exceeded, in any stretch of time") { _, who, seen in
            // What a server with the same bucket would have left.
            var (tokens, last) = (who.burst, Duration.zero)
            return seen.sent.allSatisfy { time in
                tokens = min(who.burst, tokens + (time - last) / .seconds(1) * who.rate) - 1
                last = time
                return tokens > -1e-4
            }
        },
        Property("nobody waits longer for the quota than he would if those who left had never come") { _, who, seen in
            // What a queue of those that have passed would give each of them.
            var (free, last) = (who.burst, Duration.zero)
            return seen.arrivals.enumerated().allSatisfy { number, arrival in
                guard let pass = seen.passes[number] else { return true }
                free = min(who.burst, free + max(.zero, arrival - last) / .seconds(1) * who.rate)
                let time = max(arrival, last) + .seconds(max(0, 1 - free) / who.rate)
                free = max(0, free - 1)
                last = time
                return pass <= time + .microseconds(1)
            }
        },
        Property("nobody waits longer for the quota than is allowed") { _, _, seen in
            seen.longestQuotaWait <= Inhabitant.longestQuotaWait
        },
        Property("what is refused wasn't sent") { _, _, seen in seen.sentRefusals == 0 },
        Property("no call outlasts its deadline") { _, _, seen in
            seen.calls.values.allSatisfy { ($0.end ?? .zero) - $0.start <= Inhabitant.deadline }
        },
        Property("who gives up is told so, or has an answer") { _, _, seen in
            seen.calls.values.allSatisfy {
                !$0.wasCancelled || $0.isAnswered || $0.otherError == "CancellationError" || $0.error?.code == .deadlineExceeded
            }
        },
        Property("nobody is told that he has given up who hasn't") { _, _, seen in
            seen.calls.values.allSatisfy { $0.wasCancelled || $0.otherError == nil }
        },
        Property("each gets the answer to what he has asked, as who he is, to its end") { _, _, seen in
            seen.calls.values.allSatisfy { call in
                guard let body = call.body else { return true }
                let parts = body.split(separator: " ")
                return body.hasPrefix("\(call.url) \(call.user) ") && parts.count == 4 && Int(parts[3]) != nil
            }
        },
        Property("no answer is given twice, but to those who share a call") { _, who, seen in
            Dictionary(grouping: seen.calls.values.compactMap(\.body), by: { $0 }).allSatisfy { body, takers in
                takers.count == 1 || seen.shared(body)
            }
        },
        Property("nobody waits for a shared call when all is over") { _, who, _ in who.coalescing.waiting == 0 },
        Property("every body is read or closed") { world, _, _ in world.openBodies == 0 },
        Property("those who give up tell nothing about the server") { world, who, seen in
            guard seen.failures == 0 else { return true }
            return seen.changes.isEmpty && (who.limit.states[Inhabitant.key]?.limit ?? who.maximum) >= min(who.maximum, 5)
        },
        Property("what the server got went through the innermost part") { world, _, _ in
            world.report.rows.reduce(0) { $0 + $1.sends } <= world.inhabitants.reduce(0) { $0 + $1.seen.withLock { $0.sends } }
        },
    ]
}

extension Inhabitant.Seen {
    /// Whether those with this answer were under way at the same time.
    fileprivate func shared(_ body: String) -> Bool {
        let takers = calls.values.filter { $0.body == body }
        guard let last = takers.map(\.start).max(), let end = takers.compactMap(\.end).min() else { return false }
        return last <= end
    }
}
