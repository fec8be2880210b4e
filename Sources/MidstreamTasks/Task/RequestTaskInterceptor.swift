internal import Interception

/// Something that looks at the result of a task and can't change it.
///
/// ```swift
/// struct Count<Element: Sendable>: RequestTaskInterceptor {
///     func output(_ result: Result<Element, any Error>) { metrics.count(result) }
/// }
/// ```
///
/// For interceptors of requests and responses see ``HTTPInterceptor``.
public protocol RequestTaskInterceptor<Element>: Sendable {
    /// What the task gives.
    associatedtype Element: Sendable

    /// Looks at a result: called exactly once for each call of the task's `result()`, with a success, a failure or the
    /// `CancellationError`, before the caller gets it. The caller waits for it.
    func output(_ result: Result<Element, any Error>)
}

extension RequestTask {
    /// The task with an interceptor, which sees what the task up to here gives.
    public func interceptor<Interceptor: RequestTaskInterceptor>(
        _ interceptor: Interceptor
    ) -> AnyRequestTask<Element> where Interceptor.Element == Element {
        detach { interceptor.output($0) }
    }

    /// Shows each result to a closure, which can't change it: exactly once for each call of `result()`, with a success, a failure or the
    /// `CancellationError`, before the caller gets it.
    public func detach(_ perform: @escaping @Sendable (Result<Element, any Error>) -> Void) -> AnyRequestTask<Element> {
        AnyRequestTask {
            let result = await Result.of { try await self.result() }
            perform(result)
            return try result.get()
        }
    }
}
