#if Curl && os(Linux)
    internal import MidstreamCore

    /// A loop's thread runs Swift tasks between its turns at the sockets.
    extension EventLoop: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // A task must go on somewhere, even when its preferred thread has ended.
            if !post(.job(job)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        }
    }
#endif
