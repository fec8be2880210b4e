/// A task of which only the result's type is known.
///
/// It is what all modifiers give and are given, at the price of an allocation for each when a task is put together.
public struct AnyRequestTask<Element: Sendable>: RequestTask {
    private let work: @Sendable () async throws -> Element

    /// Hides what kind of task it is.
    public init(_ task: some RequestTask<Element>) {
        if let task = task as? AnyRequestTask<Element> {
            self = task
        } else {
            work = { try await task.result() }
        }
    }

    /// Makes a task of a closure, which is called for each result.
    public init(_ work: @escaping @Sendable () async throws -> Element) { self.work = work }

    /// Does the work.
    ///
    /// - Throws: What the task throws.
    public func result() async throws -> Element { try await work() }
}
