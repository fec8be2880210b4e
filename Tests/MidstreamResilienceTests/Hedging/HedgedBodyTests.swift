import Interception
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport
import Testing

/// Who comes first to a number waits there for the second.
private final class Pairs: Sendable {
    private let gates = Locked<[String: Gate]>([:])

    /// Whether the other one was there before; otherwise it is there now.
    func meet(at number: String) async -> Bool {
        let (gate, isSecond) = gates.withLock { gates -> (Gate, Bool) in
            if let gate = gates.removeValue(forKey: number) { return (gate, true) }
            let gate = Gate()
            gates[number] = gate
            return (gate, false)
        }
        if isSecond { gate.open() } else { await gate.wait() }
        return isSecond
    }
}

@Suite("The winner of a hedge", .leavesNothing, .timeLimit(.minutes(10)))
struct HedgedBodyTests {
    private enum Winner: String, CaseIterable {
        case first, second, either
    }

    @Test("has its body to the end: 512 KiB, a thousand times, over sockets")
    func bodies() async throws {
        let server = try MockServer(limits: .init(keptRequests: 10))
        defer { server.shutdown() }
        let body = (0..<(512 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let pairs = Pairs()
        server.respond { request in
            let winner = Winner(rawValue: request.headers["Winner"] ?? "") ?? .either
            let isSecond = await pairs.meet(at: request.path)
            // The loser is cancelled before its head comes, or while its body does.
            if winner == (isSecond ? .first : .second) { try await untilCancelled() }
            return .init(body: .bytes(body))
        }
        let hedging = Hedging(delay: .milliseconds(1), percentile: 0, budget: 1, reserve: 1_000)
        let limit = ConcurrencyLimit(.fixed(100))
        let client = testClient(baseURL: server.url("/")) {
            hedging
            limit
        }
        try await withThrowingTaskGroup { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in stride(from: worker, to: 1_000, by: 8) {
                        let winner = Winner.allCases[number % 3]
                        let request = HTTPRequest("\(number)", headers: ["Winner": "\(winner)"])
                        // As a whole, and while it arrives.
                        let response = try await number % 2 == 0 ? client.send(request) : client.stream(request)
                        #expect(try await response.body.collect() == body, "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(hedging.states.values.first?.hedges == 1_000)
        await eventually { limit.states.values.first?.inFlight == 0 }
    }
}
