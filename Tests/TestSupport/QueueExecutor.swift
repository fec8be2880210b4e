#if os(Linux)
    import Dispatch

    /// Runs tasks on a queue of its own.
    package final class QueueExecutor: TaskExecutor {
        private static let key = DispatchSpecificKey<ObjectIdentifier>()
        private let queue = DispatchQueue(label: "executor")

        package init() { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

        /// Whether the present code runs there.
        package var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

        package func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
