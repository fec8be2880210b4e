import Foundation
import Interception
import MidstreamCore
import TestSupport
import Testing

/// A body that arrives at random times, waits, and reacts to closing and cancellation as a transport's does.
private final class RandomBody: IncomingBody {
    private struct State {
        var left: Int
        var failure: (any Error)?
        var isSpent = false
    }
    private let state: Locked<State>
    private let fails: Bool

    init(chunks: Int, fails: Bool) {
        state = Locked(State(left: chunks))
        self.fails = fails
    }

    func next() async throws -> [UInt8]? {
        if Bool.random() { await Task.yield() }
        if Task.isCancelled { giveUp(CancellationError()) }
        return try state.withLock { state in
            state.isSpent = true
            if let failure = state.failure { throw failure }
            guard state.left > 0 else {
                if fails { throw Failure() }
                return nil
            }
            state.left -= 1
            return [1]
        }
    }

    private func giveUp(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }
    func close() { giveUp(HTTPError(.connectionLost)) }
    var isSpent: Bool { state.withLock { $0.isSpent } }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}

@Suite("Ends of observed bodies")
struct ObservedBodyEndTests {
    /// Counts, and notices a chunk that is told when it mustn't be.
    private final class Count: Sendable {
        private let state = Locked((ends: 0, kind: "", isTelling: false, isDisturbed: false))

        func chunk(_: [UInt8]) {
            enter()
            if Int.random(in: 0..<8) == 0 { sched_yield() }
            state.withLock { $0.isTelling = false }
        }

        private func enter() {
            state.withLock {
                if $0.isTelling || $0.ends > 0 { $0.isDisturbed = true }
                $0.isTelling = true
            }
        }

        func end(_ end: HTTPBody.End) {
            let kind =
                switch end {
                case .complete: "complete"
                case .failed(is CancellationError): "cancelled"
                case .failed: "failed"
                case .closed: "closed"
                case .released: "released"
                }
            state.withLock {
                if $0.isTelling { $0.isDisturbed = true }
                $0.ends += 1
                $0.kind = kind
            }
        }

        var ends: Int { state.withLock { $0.ends } }
        var kind: String { state.withLock { $0.kind } }
        var isDisturbed: Bool { state.withLock { $0.isDisturbed } }
    }

    private func endSomehow(_ body: HTTPBody) async {
        let reader = Task {
            if Int.random(in: 0..<5) == 0 { return }
            let stop = Int.random(in: 0..<10)
            var read = 0
            for try await _ in body {
                read += 1
                if read == stop { break }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Int.random(in: 0...2) {
                group.addTask {
                    for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
                    body.close()
                }
            }
            if Int.random(in: 0..<3) == 0 {
                group.addTask {
                    for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
                    reader.cancel()
                }
            }
        }
        _ = await reader.result
    }

    private func body(_ kind: Int) -> HTTPBody {
        let length = Int.random(in: 0..<6)
        switch kind {
        case 0: return .once(AsyncStream(unfolding: Countdown(length).next))
        default: return .incoming(RandomBody(chunks: length, fails: Int.random(in: 0..<3) == 0))
        }
    }

    private final class Countdown: Sendable {
        private let left: Locked<Int>
        init(_ count: Int) { left = Locked(count) }
        @Sendable func next() async -> [UInt8]? {
            left.withLock { left in
                left -= 1
                return left < 0 ? nil : [1]
            }
        }
    }

    @Test("however reading, closing, cancelling and releasing meet, there is one end, after the last chunk")
    func randomEnds() async {
        var kinds: Set<String> = []
        for _ in 0..<1_250 {
            let counts = (0..<8).map { _ in Count() }
            await withTaskGroup(of: Void.self) { group in
                for (number, count) in counts.enumerated() {
                    group.addTask { [self] in
                        await endSomehow(body(number % 4).observed(onChunk: count.chunk, onEnd: count.end))
                    }
                }
            }
            // A task that is over may hold on to its body for a moment.
            await eventually { !counts.contains(where: { $0.ends == 0 }) }
            #expect(counts.allSatisfy { $0.ends == 1 && !$0.isDisturbed })
            kinds.formUnion(counts.map(\.kind))
        }
        #expect(kinds == ["complete", "cancelled", "failed", "closed", "released"])
    }
}
