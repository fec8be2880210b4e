import Interception
import TestSupport
import Testing

@testable import MidstreamNetworkStatus

@Suite("Tasks that wait for a network", .leavesNothing, .timeLimit(.minutes(10)))
struct NetworkWaitersTests {
    /// A watch that the test is told of.
    private final class Watch: Sendable {
        private struct State {
            var begun = 0
            var ended = 0
            var whenOnline: (@Sendable () -> Void)?
        }

        private let state = Locked(State())
        var begun: Int { state.withLock { $0.begun } }
        var ended: Int { state.withLock { $0.ended } }

        func begin(_ whenOnline: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            state.withLock { state in
                state.begun += 1
                state.whenOnline = whenOnline
            }
            return { self.state.withLock { $0.ended += 1 } }
        }

        func goOnline() { state.withLock { $0.whenOnline }?() }
    }

    private let watch = Watch()
    private var waiters: NetworkWaiters { NetworkWaiters { [watch] in watch.begin($0) } }

    @Test("All share one watch, which ends when there is a network")
    func online() async throws {
        let waiters = waiters
        for round in 1...3 {
            let first = Task { try await waiters.wait() }
            await eventually { watch.begun == round }
            let others = (0..<10).map { _ in Task { try await waiters.wait() } }
            await eventually { waiters.count == 11 }
            #expect(watch.begun == round && watch.ended == round - 1)
            watch.goOnline()
            for task in [first] + others { try await task.value }
            #expect(watch.begun == round && watch.ended == round && waiters.count == 0)
        }
    }

    @Test("A cancellation ends one wait, and that of the last one the watch")
    func cancelled() async throws {
        let waiters = waiters
        let tasks = (0..<3).map { _ in Task { try await waiters.wait() } }
        await eventually { waiters.count == 3 }
        for (number, task) in tasks.enumerated() {
            #expect(watch.ended == 0)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(waiters.count == 2 - number)
        }
        #expect(watch.begun == 1 && watch.ended == 1)
        // Too late for anybody.
        watch.goOnline()
        #expect(watch.ended == 1)
    }

    @Test("Who is cancelled before the wait leaves no watch")
    func cancelledBefore() async throws {
        let waiters = waiters
        let task = Task {
            try? await untilCancelled()
            try await waiters.wait()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(watch.begun == 1 && watch.ended == 1 && waiters.count == 0)
    }

    @Test("Without a watch there is no wait")
    func noWatch() async throws {
        let waiters = NetworkWaiters { _ in throw Failure("no watch") }
        await #expect(throws: Failure("no watch")) { try await waiters.wait() }
        #expect(waiters.count == 0)
    }

    @Test("Whoever comes and goes while the network does, nobody waits for ever, and each watch ends")
    func crowd() async throws {
        let waiters = waiters
        let tasks = (0..<200).map { number in
            Task {
                if number % 3 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                try? await waiters.wait()
            }
        }
        let done = Locked(false)
        let network = Task {
            while !done.withLock({ $0 }) {
                watch.goOnline()
                await Task.yield()
            }
        }
        for task in tasks { await task.value }
        done.withLock { $0 = true }
        await network.value
        #expect(waiters.count == 0 && watch.begun == watch.ended)
    }
}
