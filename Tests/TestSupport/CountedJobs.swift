import Dispatch
import Interception

/// An actor's executor that counts how often it is entered.
package final class CountedJobs: SerialExecutor {
    private let number = Locked(0)
    private let queue = DispatchQueue(label: "counted jobs")

    package init() {}

    package var count: Int { number.withLock { $0 } }

    package func enqueue(_ job: consuming ExecutorJob) {
        number.withLock { $0 += 1 }
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
