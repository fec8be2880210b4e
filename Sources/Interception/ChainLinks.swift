/// What a chain is made of: its interceptors in order, what lies behind the last one, and who watches.
///
/// One immutable object that all places in the chain share, so that ``Next`` can be an index into it.
@usableFromInline
package final class ChainLinks<Input: Sendable, Output: Sendable>: Sendable {
    @usableFromInline let interceptors: [any Interceptor<Input, Output>]
    @usableFromInline let terminal: @Sendable (Input) async throws -> Output
    @usableFromInline let observer: (any ChainObserver<Input, Output>)?

    @inlinable
    package init(
        _ interceptors: [any Interceptor<Input, Output>],
        observer: (any ChainObserver<Input, Output>)? = nil,
        terminal: @escaping @Sendable (Input) async throws -> Output
    ) {
        self.interceptors = interceptors
        self.observer = observer
        self.terminal = terminal
    }

    @inlinable
    nonisolated(nonsending)
        package func run(_ input: Input, at index: Int32, within parent: Int32) async throws -> Output
    {
        if let observer {
            return try await observed(by: observer, input, at: index, within: parent)
        }
        let place = Int(index)
        guard place < interceptors.count else { return try await terminal(input) }
        return try await interceptors[place].intercept(input, next: Next(links: self, index: index + 1, span: parent))
    }

    @inlinable
    nonisolated(nonsending)
        func observed(
            by observer: any ChainObserver<Input, Output>, _ input: Input, at index: Int32, within parent: Int32
        ) async throws -> Output
    {
        var input = input
        let span = observer.willRun(index, with: &input, within: parent)
        do {
            let place = Int(index)
            var output: Output
            if place < interceptors.count {
                output = try await interceptors[place].intercept(
                    input, next: Next(links: self, index: index + 1, span: span))
            } else {
                output = try await terminal(input)
            }
            observer.didRun(span, within: parent, with: input, returned: &output)
            return output
        } catch {
            observer.didRun(span, with: input, threw: error)
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

    /// A pass begins. Returns the number by which the observer knows it; `parent` is the number of the pass further out.
    func willRun(_ index: Int32, with input: inout Input, within parent: Int32) -> Int32
    /// The pass returned. The output goes on to the pass whose number is `parent`.
    func didRun(_ span: Int32, within parent: Int32, with input: Input, returned output: inout Output)
    /// The pass threw.
    func didRun(_ span: Int32, with input: Input, threw error: any Error)
}
