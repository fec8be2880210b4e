/// What a chain is made of: its interceptors in order, what lies behind the last one, and who watches.
///
/// One immutable object that all places in the chain share, so that ``Next`` can be an index into it.
@usableFromInline
package final class ChainLinks<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let interceptors: [any Interceptor<Input, Output>]
    @usableFromInline let terminal: @Sendable (Input, ChainPosition) async throws -> Output
    @usableFromInline let observer: (any ChainObserver<Input, Output>)?
    /// Which interceptors are told their position by the task when the chain is observed.
    @usableFromInline let positioned: [Bool]

    /// - Parameter unpositioned: The places of interceptors that find their position in ``Next`` alone, which is cheaper.
    @inlinable
    package init(
        _ interceptors: [any Interceptor<Input, Output>],
        observer: (any ChainObserver<Input, Output>)? = nil,
        unpositioned: Set<Int> = [],
        terminal: @escaping @Sendable (Input, ChainPosition) async throws -> Output
    ) {
        self.interceptors = interceptors
        self.observer = observer
        positioned = interceptors.indices.map { !unpositioned.contains($0) }
        self.terminal = terminal
    }

    /// Runs the chain from an interceptor on; the number of interceptors means the terminal.
    @inlinable
    nonisolated(nonsending)
        package func run(_ input: Input, from index: Int32, at position: ChainPosition) async throws -> Output
    {
        if let observer {
            return try await observed(by: observer, input, from: index, at: position)
        }
        let place = Int(index)
        guard place < interceptors.count else { return try await terminal(input, position) }
        return try await interceptors[place].intercept(input, next: Next(links: self, index: index + 1, position: position))
    }

    @inlinable
    nonisolated(nonsending)
        func observed(
            by observer: any ChainObserver<Input, Output>, _ input: Input, from index: Int32, at position: ChainPosition
        ) async throws -> Output
    {
        var inner = position
        inner.pass = observer.willRun(index, with: input, at: position)
        do {
            let place = Int(index)
            let output: Output
            if place < interceptors.count {
                let next = Next(links: self, index: index + 1, position: inner)
                if positioned[place] {
                    output = try await ChainPosition.local.withValue(inner) {
                        try await interceptors[place].intercept(input, next: next)
                    }
                } else {
                    output = try await interceptors[place].intercept(input, next: next)
                }
            } else {
                output = try await terminal(input, inner)
            }
            observer.didRun(returning: output, at: inner)
            return output
        } catch {
            observer.didRun(throwing: error, at: inner)
            throw error
        }
    }
}

/// Watches what passes through a chain without taking part in it.
///
/// Called synchronously around every interceptor and around the terminal, whose index is the number of interceptors.
@usableFromInline
package protocol ChainObserver<Input, Output>: AnyObject, Sendable {
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    /// A pass begins. Returns the number by which the observer knows it; `position` is that of the pass further out.
    func willRun(_ index: Int32, with input: Input, at position: ChainPosition) -> Int32
    /// The pass at a position returned.
    func didRun(returning output: Output, at position: ChainPosition)
    /// The pass at a position threw.
    func didRun(throwing error: any Error, at position: ChainPosition)
}
