/// Interceptors in a fixed order, and the destination behind them.
///
/// The first interceptor added is the outermost: it sees the input first and the output last. A chain is an immutable value;
/// `adding(_:)` returns a longer one. Running it starts no task of its own: it runs in the caller's, and the caller's
/// cancellation reaches every level.
public struct InterceptorChain<Input: Sendable, Output: Sendable>: Sendable {
    private let links: ChainLinks<Input, Output>

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - interceptors: Outermost first. An empty list passes inputs straight to the terminal.
    ///   - terminal: Does the work that the interceptors surround.
    public init(
        _ interceptors: [any Interceptor<Input, Output>] = [],
        terminal: @escaping @Sendable (Input) async throws -> Output
    ) {
        links = ChainLinks(interceptors, terminal: ClosureInterceptor<Input, Output> { input, _ in try await terminal(input) })
    }

    private init(_ links: ChainLinks<Input, Output>) { self.links = links }

    /// The chain with one interceptor more, inside all those that it already has.
    public func adding(_ interceptor: any Interceptor<Input, Output>) -> Self {
        Self(links.adding(interceptor))
    }

    /// Sends `input` through all interceptors to the terminal, and the output back.
    ///
    /// - Throws: What an interceptor or the terminal throws, unchanged.
    public func proceed(_ input: Input) async throws -> Output {
        try await links.run(input, at: ChainPosition())
    }

    /// Sends `input` through the chain from code that isn't asynchronous.
    ///
    /// - Parameter completion: Called exactly once, from an arbitrary thread.
    /// - Returns: The task that runs the chain; cancelling it cancels every level.
    @discardableResult
    public func proceed(
        _ input: Input, completion: @escaping @Sendable (Result<Output, any Error>) -> Void
    ) -> Task<Void, Never> {
        CallersExecutor().start { completion(await .of { try await proceed(input) }) }
    }
}
