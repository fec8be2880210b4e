/// Something that sits between a caller and a destination and sees every input on its way down and every output on its way up.
///
/// This is the one primitive of the library: anything else (request-only forms, validators, closures, completion handlers) is an
/// adapter over it. An interceptor may change the input, answer without asking further (short-circuit), ask several times
/// (retry), and change or replace the output.
///
/// An interceptor is shared by all calls that pass through it and may be called from any task at any time, so it is `Sendable`
/// and keeps no state of a single call in itself.
public protocol Interceptor<Input, Output>: Sendable {
    /// What travels down the chain.
    associatedtype Input: Sendable
    /// What travels back up.
    associatedtype Output: Sendable

    /// Handles one input.
    ///
    /// - Parameters:
    ///   - input: The input as the interceptor further out passed it on.
    ///   - next: The rest of the chain. It may be called not at all, once, or many times, one after the other or at the same time,
    ///     from this task or any other, even after this function has returned; each call runs the rest afresh, and what it
    ///     returns belongs to whoever called it.
    /// - Returns: The output, as the interceptor further out shall see it.
    /// - Throws: Whatever `next` throws, or an error of its own; the chain passes errors on unchanged and never wraps them.
    func intercept(_ input: Input, next: Next<Input, Output>) async throws -> Output
}

/// The rest of a chain, as seen from one of its interceptors.
///
/// A small value: it names a place in the chain and allocates nothing. It may be kept, copied and called from another task.
public struct Next<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline
    package let links: ChainLinks<Input, Output>
    @usableFromInline
    package var position: ChainPosition
    @usableFromInline
    package let index: Int32

    @inlinable
    package init(links: ChainLinks<Input, Output>, index: Int32, position: ChainPosition) {
        self.links = links
        self.index = index
        self.position = position
    }

    /// Runs the rest of the chain with `input`.
    ///
    /// - Throws: Whatever an interceptor further in or the terminal throws; `CancellationError` when the task is cancelled and
    ///   something further in reacts to it.
    @inlinable
    nonisolated(nonsending)
        public func callAsFunction(_ input: Input) async throws -> Output
    {
        // All in one function: each asynchronous call costs about as much as a small interceptor does.
        let place = Int(index)
        var inner = position
        if let observer = links.observer { inner.pass = observer.willRun(index, with: input, at: position) }
        let next = Next(links: links, index: index &+ 1, position: inner)
        do {
            let output =
                if inner.deadline != .max, links.interruptible[place] {
                    try await next.interruptStep(input)
                } else if links.observer != nil, !links.unpositioned[place] {
                    try await ChainPosition.local.withValue(inner) { try await links.steps[place].intercept(input, next: next) }
                } else {
                    try await links.steps[place].intercept(input, next: next)
                }
            links.observer?.didRun(returning: output, at: inner)
            return output
        } catch {
            links.observer?.didRun(throwing: error, at: inner)
            throw error
        }
    }

    /// Runs the step that this is the rest behind, and interrupts it at the run's deadline. Its frame isn't in those of runs that have none.
    @inlinable @inline(never)
    nonisolated(nonsending) func interruptStep(_ input: Input) async throws -> Output {
        let step = links.steps[Int(index) - 1]
        guard let interruption = links.interruption else { return try await step.intercept(input, next: self) }
        return try await interruption(step, input, self)
    }
}
