#if canImport(FoundationNetworking)
    internal import Foundation

    /// Runs what is added at once, on the thread that adds it.
    ///
    /// On Linux a session adds each delegate call from libcurl's callback. Run there, it saves two changes of thread, and no
    /// calls pile up in a queue where nobody counts them. All sessions of the process share the queue underneath, so such a
    /// call must be short, never wait, and never create, suspend or cancel a task, which waits for that queue.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because nothing is stored.
    final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#endif
