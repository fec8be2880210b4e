/// An interceptor that is written as a closure.
public struct ClosureInterceptor<Input: Sendable, Output: Sendable>: Interceptor {
    private let body: @Sendable (Input, Next<Input, Output>) async throws -> Output

    /// Makes an interceptor of a closure, which follows the rules of ``Interceptor/intercept(_:next:)``.
    public init(_ body: @escaping @Sendable (Input, Next<Input, Output>) async throws -> Output) {
        self.body = body
    }

    /// Calls the closure.
    public func intercept(_ input: Input, next: Next<Input, Output>) async throws -> Output {
        try await body(input, next)
    }
}
