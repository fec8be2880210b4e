/// A call that is described and not yet made: asking for its ``result()`` makes it.
///
/// A task is cold. Making one sends nothing; each call of `result()` does all of it anew, so that a task can be kept, handed on,
/// asked several times and from several places at once. ``DataTask`` is the one that talks to a server; modifiers turn tasks
/// into other tasks:
///
/// ```swift
/// let user = client.get("users/42").retries(3).decode(User.self).extractPayload()
/// let now = try await user.result()
/// let later = try await user.result()      // sent again
/// ```
///
/// In `task.a().b()` b is the outer one: it sees what a made of the result.
public protocol RequestTask<Element>: Sendable {
    /// What the task gives.
    associatedtype Element: Sendable

    /// Does the work and gives its result, in the caller's task.
    ///
    /// - Throws: What went wrong; `CancellationError` when the caller's task is cancelled.
    func result() async throws -> Element
}
