/// Several interceptors that act as one.
public struct ChainedInterceptor<Input: Sendable, Output: Sendable>: Interceptor {
    /// The interceptors, outermost first.
    public let interceptors: [any Interceptor<Input, Output>]

    /// Joins interceptors into one that runs them as listed: the first is the outermost. An empty list passes through.
    public static func chain(inOrder interceptors: [any Interceptor<Input, Output>]) -> Self {
        Self(interceptors: interceptors)
    }

    /// Sends the input through the listed interceptors and on to `next`. A throw in one keeps it from those further in.
    public func intercept(_ input: Input, next: Next<Input, Output>) async throws -> Output {
        try await next.running(interceptors, on: input)
    }
}

extension Next {
    /// Runs `interceptors`, outermost first, between the caller and the rest of the chain.
    package func running(_ interceptors: [any Interceptor<Input, Output>], on input: Input) async throws -> Output {
        switch interceptors.count {
        case 0: return try await self(input)
        case 1: return try await interceptors[0].intercept(input, next: self)
        default:
            let rest = ClosureInterceptor<Input, Output> { input, inner in
                // Where the last of them goes on, which may be in a branch or with other limits.
                try await Next(links: links, index: index, position: inner.position)(input)
            }
            return try await ChainLinks(interceptors, terminal: rest).run(input, at: position)
        }
    }
}

extension Interceptor {
    /// An interceptor that runs this one outside `other`: inputs go through this one first, outputs through `other` first.
    public func chain(before other: any Interceptor<Input, Output>) -> ChainedInterceptor<Input, Output> {
        .chain(inOrder: [self, other])
    }

    /// An interceptor that runs this one inside `other`: inputs go through `other` first, outputs through this one first.
    public func chain(after other: any Interceptor<Input, Output>) -> ChainedInterceptor<Input, Output> {
        .chain(inOrder: [other, self])
    }
}
