internal import MidstreamPlatform

/// A detached thread.
///
/// A server has threads of its own, so that it answers even while something blocks every thread of Swift's pool.
package enum ServerThread {
    /// Runs `body` on a new thread; false when the system has none to give.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Hundreds of connections are usual in tests, and none of them needs the 8 MiB that are reserved by default.
        DetachedThread.start(stackSize: 512 << 10, body) == 0
    }
}
