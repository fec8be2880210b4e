/// What a chain is made of: its interceptors in order, what lies behind the last one, and who watches.
///
/// One immutable object that all places in the chain share, so that ``Next`` can be an index into it.
@usableFromInline
package final class ChainLinks<Input: Sendable, Output: Sendable>: Sendable {
    /// The interceptors, and the terminal as the last one, which asks nobody further.
    @usableFromInline package let steps: [any Interceptor<Input, Output>]
    @usableFromInline let observer: (any ChainObserver<Input, Output>)?
    /// Which steps find their position in ``Next`` alone, so that the task needn't carry it when the chain is observed.
    @usableFromInline let unpositioned: [Bool]
    /// Which steps have to be interrupted at the run's deadline.
    @usableFromInline let interruptible: [Bool]
    @usableFromInline let interruption: Interruption?

    /// Runs a step, and interrupts it at the run's deadline.
    @usableFromInline
    package typealias Interruption =
        @Sendable (any Interceptor<Input, Output>, Input, Next<Input, Output>) async throws -> Output

    /// - Parameters:
    ///   - unpositioned: The places of interceptors that find their position in ``Next`` alone, which is cheaper.
    ///   - interruptible: The places of interceptors that may wait beyond the run's deadline.
    ///   - interruption: Runs these in a run that has one.
    ///   - terminal: Does the work that the interceptors surround. Never calls its ``Next``.
    package init(
        _ interceptors: [any Interceptor<Input, Output>],
        observer: (any ChainObserver<Input, Output>)? = nil,
        unpositioned: Set<Int> = [],
        interruptible: Set<Int> = [],
        interruption: Interruption? = nil,
        terminal: any Interceptor<Input, Output>
    ) {
        steps = interceptors + [terminal]
        self.observer = observer
        self.unpositioned = interceptors.indices.map { unpositioned.contains($0) } + [true]
        self.interruptible = steps.indices.map { interruptible.contains($0) }
        self.interruption = interruption
    }

    /// The same chain with one interceptor more, inside all the others. It has no observer.
    func adding(_ interceptor: any Interceptor<Input, Output>) -> ChainLinks {
        ChainLinks(steps.dropLast() + [interceptor], terminal: steps[steps.count - 1])
    }

    /// Runs the chain from its first step on.
    @inlinable
    nonisolated(nonsending)
        package func run(_ input: Input, at position: ChainPosition) async throws -> Output
    {
        try await Next(links: self, index: 0, position: position)(input)
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
