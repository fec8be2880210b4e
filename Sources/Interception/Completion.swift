internal import MidstreamPlatform

/// Calls `body` with a completion handler and waits until the handler has been called or can't be called any more.
func withCompletion<Output: Sendable>(
    _ body: (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Void
) async throws -> Output {
    let outcome = Suspension<Result<Output, any Error>>()
    hand(Completion(outcome: outcome), to: body)
    return try await outcome.value().get()
}

/// Keeps no reference to the completion.
private func hand<Output: Sendable>(
    _ completion: Completion<Output>, to body: (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Void
) {
    body { completion.complete($0) }
}

/// The one outcome of a piece of callback-style work.
///
/// The handler that user code holds is what keeps this object alive, so its end of life without an outcome means that no outcome
/// can come.
private final class Completion<Output: Sendable>: Sendable {
    private let outcome: Suspension<Result<Output, any Error>>

    init(outcome: Suspension<Result<Output, any Error>>) { self.outcome = outcome }

    deinit { outcome.resume(.failure(CompletionDropped())) }

    func complete(_ result: Result<Output, any Error>) {
        if outcome.resume(result) { return }
        let report: StaticString = "Interception: a completion handler was called a second time; the first outcome stands.\n"
        // To the descriptor, since C's `stderr` is a global variable that strict concurrency checking refuses.
        _ = write(2, report.utf8Start, report.utf8CodeUnitCount)
    }
}

/// Tasks that were started on behalf of another one, such as by a callback-style interceptor that calls the rest of the chain, so that they can
/// be cancelled with it. They have the task-local values of whoever starts them.
package final class RunningTasks: Sendable {
    /// For what a run does after its deadline, which cancels the present task; cancelled when the run's user leaves.
    @TaskLocal package static var afterDeadline: RunningTasks?

    private struct State {
        var isCancelled = false
        var running: [Int: Task<Void, Never>] = [:]
        var started = 0
    }
    private let state = Locked(State())
    private let executor = CallersExecutor()

    package init() {}

    package func start(_ work: @escaping @Sendable () async -> Void) {
        let cancelled = state.withLock { state -> Task<Void, Never>? in
            state.started += 1
            let number = state.started
            // Entered under the lock, so that the task, which leaves under it too, can't leave first.
            let task = executor.start { [self] in
                await work()
                self.state.withLock { $0.running[number] = nil }
            }
            state.running[number] = task
            return state.isCancelled ? task : nil
        }
        cancelled?.cancel()
    }

    package func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            return state.running
        }
        for task in running.values { task.cancel() }
    }
}

/// Has such tasks started with the task-local values of whoever makes this, wherever they are asked for: a thread that calls back is part of no
/// task, or of another one. Within ``perform(_:)`` they are started in place, with what has been set there.
///
/// It takes a task of its own, which waits for work, since task-local values can't be copied in any other way.
final class CallersContext: Sendable {
    @TaskLocal private static var present: ObjectIdentifier?

    private let tasks: RunningTasks
    private let works: AsyncStream<@Sendable () async -> Void>.Continuation

    init(of tasks: RunningTasks) {
        let (waiting, works) = AsyncStream<@Sendable () async -> Void>.makeStream()
        (self.tasks, self.works) = (tasks, works)
        CallersExecutor().startAtOnce {
            for await work in waiting { tasks.start(work) }
        }
    }

    // What has been asked for by then is started all the same.
    deinit { works.finish() }

    func perform(_ body: () -> Void) { Self.$present.withValue(ObjectIdentifier(self)) { body() } }

    func start(_ work: @escaping @Sendable () async -> Void) {
        if Self.present == ObjectIdentifier(self) { tasks.start(work) } else { works.yield(work) }
    }
}
