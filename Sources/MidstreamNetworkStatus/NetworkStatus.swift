/// Tells whether the machine has a network: ``SystemNetworkStatus``, or one that knows more, such as whether a tunnel is up.
///
/// A network is no promise that a server can be reached, so nothing here keeps a request from being sent. It is for who has failed and wants
/// to know when another attempt is worth it.
public protocol NetworkStatus: Sendable {
    /// Whether there is a network now. The answer is given at once; true where nobody can tell.
    var isOnline: Bool { get async }

    /// Waits until there is a network; returns at once if there is one already.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, at once; any other error where nobody can tell.
    func waitUntilOnline() async throws
}
