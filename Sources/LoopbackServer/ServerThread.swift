internal import Platform

/// A detached thread.
///
/// A server has threads of its own, so that it answers even while something blocks every thread of Swift's pool.
package enum ServerThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread; false when the system has none to give.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        guard pthread_attr_init(attributes) == 0 else { return false }
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Hundreds of connections are usual in tests, and none of them needs the 8 MiB that are reserved by default.
        pthread_attr_setstacksize(attributes, 512 << 10)
        let argument = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(
            &thread, attributes,
            { argument in
                #if canImport(Darwin)
                    Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                #else
                    if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                #endif
                return nil
            }, argument.toOpaque())
        if result != 0 { argument.release() }
        return result == 0
    }
}
