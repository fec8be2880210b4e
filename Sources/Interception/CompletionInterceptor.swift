/// An interceptor in callback style, for code that hasn't been moved to `async` yet.
///
/// `completion` and the handler given to `next` may be called later and from any thread. Of two completions the first stands and
/// the second is reported on standard error. A completion handler that is dropped without being called makes the
/// chain throw an error that says so instead of waiting for ever. When the task that runs the chain is cancelled, what `next`
/// started is cancelled too, and its handler hears of it.
public protocol CompletionInterceptor<Input, Output>: Interceptor {
    // Declared again, since the compiler infers them from the requirement below only where they stand beside it.
    /// What travels down the chain.
    associatedtype Input
    /// What travels back up.
    associatedtype Output

    /// Handles one input; calls `completion` once with the outcome.
    ///
    /// - Parameters:
    ///   - input: The input as the interceptor further out passed it on.
    ///   - next: The rest of the chain, called as `next(input) { result in … }`: never, once or many times.
    ///   - completion: Takes the outcome.
    func intercept(
        _ input: Input, next: CompletionNext<Input, Output>,
        completion: @escaping @Sendable (Result<Output, any Error>) -> Void)
}

/// The rest of a chain in callback style.
public struct CompletionNext<Input: Sendable, Output: Sendable>: Sendable {
    let next: Next<Input, Output>
    let context: CallersContext

    /// Runs the rest of the chain with `input` in a task of its own and hands the outcome to `completion`, exactly once.
    ///
    /// The task has the task-local values that hold where this is called; on a thread that is part of no task of the chain, those that the
    /// interceptor has. It is cancelled when the task that runs the whole chain is.
    public func callAsFunction(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) {
        let next = next
        context.start { completion(await .of { try await next(input) }) }
    }
}

extension CompletionInterceptor {
    /// Runs the callback form and waits for its completion.
    ///
    /// - Throws: The error that was completed with, or one that says that the handler was dropped.
    public func intercept(_ input: Input, next: Next<Input, Output>) async throws -> Output {
        let tasks = RunningTasks()
        return try await withTaskCancellationHandler {
            try await withCompletion { completion in
                let context = CallersContext(of: tasks)
                context.perform {
                    intercept(input, next: CompletionNext(next: next, context: context), completion: completion)
                }
            }
        } onCancel: {
            tasks.cancel()
        }
    }
}

extension InterceptorChain {
    /// Makes a chain whose terminal is in callback style.
    ///
    /// - Parameters:
    ///   - interceptors: Outermost first.
    ///   - completionTerminal: Does the work and calls the handler once, now or later, from any thread. A handler that is
    ///     dropped without being called makes the chain throw an error that says so.
    public init(
        _ interceptors: [any Interceptor<Input, Output>] = [],
        completionTerminal:
            @escaping @Sendable (
                Input, @escaping @Sendable (Result<Output, any Error>) -> Void
            ) -> Void
    ) {
        self.init(interceptors) { input in
            try await withCompletion { completionTerminal(input, $0) }
        }
    }
}

/// Thrown when a completion handler went away without having been called, so that no outcome can ever come.
package struct CompletionDropped: Error, Hashable, CustomStringConvertible {
    package init() {}

    package var description: String { "A completion handler was released without having been called." }
}
