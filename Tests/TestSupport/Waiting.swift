import Interception
package import MidstreamTesting

/// Waits for nothing but the cancellation of the task.
package func untilCancelled() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
        for await _ in stream {}
    } onCancel: {
        continuation.finish()
    }
    try Task.checkCancellation()
}

/// Waits for something that others will soon have brought about, and that has no event of its own, without keeping a core busy.
///
/// - Parameter patience: How long at most, counted in pauses between two looks, so that a machine that stands still uses up nothing of
///   it; for ever by default, as far as the test's time limit goes. It also ends when the task is cancelled.
package func eventually(
    within patience: Duration? = nil, isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool
) async rethrows {
    var (left, pause) = (patience, Duration.milliseconds(1))
    while try await !isSo(), !Task.isCancelled {
        if let rest = left {
            guard rest > .zero else { return }
            left = rest - pause
        }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}

/// Something that tasks wait for until it is opened, and that tells how many wait.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var observers: [(wanted: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    package init() {}

    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the gate is open, whatever happens to the task.
    package func wait() async {
        await withCheckedContinuation { waiter in
            let (isOpen, satisfied) = state.withLock { state in
                if state.isOpen { return (true, [CheckedContinuation<Void, Never>]()) }
                state.waiters.append(waiter)
                let count = state.waiters.count
                let satisfied = state.observers.filter { $0.wanted <= count }.map(\.continuation)
                state.observers.removeAll { $0.wanted <= count }
                return (false, satisfied)
            }
            if isOpen { waiter.resume() }
            for observer in satisfied { observer.resume() }
        }
    }

    /// Waits until so many tasks wait at the gate.
    package func reached(by count: Int = 1) async {
        await withCheckedContinuation { observer in
            let isReached = state.withLock { state in
                if state.waiters.count >= count { return true }
                state.observers.append((count, observer))
                return false
            }
            if isReached { observer.resume() }
        }
    }
}

extension TestClock {
    /// Does the work, moves the clock to the end of each of so many of its waits, and tells how long they were and what came of
    /// it all. A wait too many cancels the work.
    package func waits<Success: Sendable>(
        _ count: Int, of work: @escaping @Sendable () async throws -> Success
    ) async -> (delays: [Duration], result: Result<Success, any Error>) {
        let work = Task { try await work() }
        // Shows the end of the work on the clock, so that a wait that never comes, or one too many, isn't waited for for ever.
        let end = Instant(offset: .seconds(Int64.max / 2))
        let sign = Task {
            _ = await work.result
            try? await sleep(until: end)
        }
        var delays: [Duration] = []
        while delays.count <= count {
            await waitForSleepers(1)
            guard let next = nextDeadline, next < end else { break }
            delays.append(next.offset - now.offset)
            if delays.count > count { work.cancel() } else { advance(to: next) }
        }
        sign.cancel()
        await sign.value
        return (delays, await work.result)
    }
}
