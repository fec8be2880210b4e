#if os(Linux)
    import Glibc

    /// A thread that nobody joins.
    package enum DetachedThread {
        /// Runs `main` on a new thread. It is detached from its beginning: where it ended before its creator detached it, and the process
        /// just then, it would count as leaked.
        ///
        /// - Returns: The system's error; zero: there is a thread.
        package static func start(
            _ context: UnsafeMutableRawPointer, _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
        ) -> Int32 {
            var attributes = pthread_attr_t()
            let problem = pthread_attr_init(&attributes)
            guard problem == 0 else { return problem }
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            var thread = pthread_t()
            return pthread_create(&thread, &attributes, main, context)
        }
    }
#endif
