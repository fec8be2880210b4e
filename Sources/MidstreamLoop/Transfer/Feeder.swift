#if os(Linux)
    internal import Interception
    internal import MidstreamCore

    /// What gets a body ready in a task of its own, ahead of what the loop is sending.
    ///
    /// The task begins when something is first asked for: without a connection the body isn't touched.
    protocol Feeder: AnyObject, Sendable {
        /// Where the task runs.
        var executor: CallersExecutor { get }

        /// Under the feeder's lock.
        func withTask<Result>(_ body: (inout FeedingTask) -> Result) -> Result

        /// Gets the body ready, and waits where it is far enough ahead.
        ///
        /// - Throws: What the transfer fails with.
        func feed(_ transfer: Transfer) async throws
    }

    /// How a feeder's task and the loop wait for each other.
    struct FeedingTask {
        var task: Task<Void, Never>?
        var isStopped = false
        /// Sending is paused.
        var isAwaited = false
        /// The task waits until enough has been sent.
        var waiter: Suspension<Void>?

        /// Notes that there is more; where that is enough for now, the task is to wait.
        mutating func offer(isEnough: Bool) -> (mustResume: Bool, waiter: Suspension<Void>?) {
            if isEnough, !isStopped { waiter = Suspension() }
            defer { isAwaited = false }
            return (isAwaited, waiter)
        }
    }

    extension Feeder {
        /// Whether there is nothing to send until the body brings more.
        var isAwaited: Bool { withTask { $0.isAwaited } }

        /// Ends the task; nothing more is sent.
        func stop() {
            let (task, waiter) = withTask { feeding in
                feeding.isStopped = true
                defer { feeding.waiter = nil }
                return (feeding.task, feeding.waiter)
            }
            task?.cancel()
            waiter?.resume()
        }

        func start(for transfer: Transfer) {
            let task = executor.start { [self] in
                do {
                    try await feed(transfer)
                } catch {
                    transfer.loop.post(.fail(transfer, (error as? HTTPError)?.ofRequestBody ?? error))
                }
            }
            let isStopped = withTask { feeding in
                feeding.task = task
                return feeding.isStopped
            }
            if isStopped { task.cancel() }
        }

        /// Has sending go on where it is paused, and waits until there is need of more; false when there won't be: the end of the transfer
        /// ends the wait.
        func waitForNeed(after offer: (mustResume: Bool, waiter: Suspension<Void>?), for transfer: Transfer) async -> Bool {
            if offer.mustResume { transfer.loop.post(.resumeSending(transfer)) }
            await offer.waiter?.value()
            return withTask { !$0.isStopped }
        }
    }
#endif
