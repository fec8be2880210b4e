#if canImport(FoundationNetworking)
    internal import Foundation

    /// Runs what is added at once, on the thread that adds it.
    ///
    /// On Linux a session adds each delegate call from inside libcurl's callback. Run there, a call that waits holds the
    /// transfer up, which is the only back-pressure that can be had: `suspend()` doesn't stop a transfer. It also saves two
    /// changes of thread for each call. A delegate that runs so must never make its session wait for itself: it may not
    /// create, suspend or cancel tasks.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because nothing is stored.
    final class InlineOperationQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#endif
