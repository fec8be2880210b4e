/// Something that is done around a task: before it, after it, instead of it or by asking it several times.
///
/// ```swift
/// struct TokenRefresh: RequestTaskModifier {
///     typealias Input = TaskResult<Data>
///
///     func body(_ task: Content) async throws -> Input {
///         let result = try await task.result()
///         guard result.head.status == .unauthorized else { return result }
///         try await session.refresh()
///         return try await task.result()
///     }
/// }
///
/// let news = client.get("news").modifier(TokenRefresh())
/// ```
///
/// A modifier is shared by all results of its task, which may be asked for at the same time, so it keeps no state of one of them.
public protocol RequestTaskModifier<Input, Output>: Sendable {
    /// What the modified task gives.
    associatedtype Input: Sendable
    /// What is made of it; often the same.
    associatedtype Output: Sendable

    /// The task that is modified. Any modifier can be used on it.
    typealias Content = AnyRequestTask<Input>

    /// Gives the result of the modified task.
    ///
    /// - Parameter task: The task with everything that stands before the modifier. Each call of its `result()` sends anew; it may
    ///   be called not at all, once or many times.
    /// - Throws: What `task` throws, or an error of its own; either reaches the caller unchanged.
    func body(_ task: Content) async throws -> Output
}

extension RequestTask {
    /// The task with a modifier around it.
    public func modifier<Modifier: RequestTaskModifier>(
        _ modifier: Modifier
    ) -> AnyRequestTask<Modifier.Output> where Modifier.Input == Element {
        let content = AnyRequestTask(self)
        return AnyRequestTask { try await modifier.body(content) }
    }
}
