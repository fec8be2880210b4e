internal import Foundation

/// Runs the jobs of a simulation's tasks one after the other, in the order in which they came, on one thread.
///
/// - Invariant: `@unchecked Sendable` is sound because the jobs are only touched while the condition's lock is held.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
final class SimulatedExecutor: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        jobs.append(job)
        condition.signal()
        condition.unlock()
    }

    /// Runs everything there is to do, and what comes of it, by the calling thread.
    ///
    /// - Parameter beforeEach: Called before each job with its number; 0 for the first.
    /// - Returns: The number of jobs.
    func runAll(_ beforeEach: (Int) -> Void = { _ in }) -> Int {
        var count = 0
        while true {
            condition.lock()
            let batch = jobs
            jobs.removeAll(keepingCapacity: true)
            condition.unlock()
            if batch.isEmpty { return count }
            for job in batch {
                beforeEach(count)
                count += 1
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    /// Waits for a job that somebody outside the simulation hands in.
    ///
    /// - Returns: Whether there is one.
    func waitForJob(until end: Date) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if !condition.wait(until: end) { return !jobs.isEmpty }
        }
        return true
    }
}
