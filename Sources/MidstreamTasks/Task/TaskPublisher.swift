#if canImport(Combine)
    public import Combine
    internal import Interception

    extension RequestTask {
        /// A publisher that asks the task for a result on behalf of each subscriber, and cancels it with the subscription.
        ///
        /// Values arrive on no particular queue; use `receive(on:)`.
        public var publisher: TaskPublisher<Element> { TaskPublisher(AnyRequestTask(self)) }
    }

    /// Publishes the result of a task and finishes, or fails. Nothing is sent before a subscriber asks for a value.
    public struct TaskPublisher<Output: Sendable>: Publisher {
        /// Whatever the task throws.
        public typealias Failure = any Error

        private let task: AnyRequestTask<Output>

        init(_ task: AnyRequestTask<Output>) { self.task = task }

        /// Gives the subscriber a subscription of its own.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
            subscriber.receive(
                subscription: TaskSubscription(task) { result in
                    switch result {
                    case .success(let value):
                        _ = subscriber.receive(value)
                        subscriber.receive(completion: .finished)
                    case .failure(let error):
                        subscriber.receive(completion: .failure(error))
                    }
                })
        }
    }

    /// One subscriber's call of a task.
    ///
    /// It knows the subscriber as a closure, since neither that nor its type need be `Sendable`, and the work of a task may capture
    /// no other types.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because `state` is reached only under its lock, and the subscriber's closure is
    ///   taken out of it at most once and then called by that one task alone.
    private final class TaskSubscription<Output: Sendable>: Subscription, @unchecked Sendable {
        private typealias Subscriber = (Result<Output, any Error>) -> Void

        private struct State {
            var subscriber: Subscriber?
            var work: Task<Void, Never>?
            var isCancelled = false
        }

        private let task: AnyRequestTask<Output>
        private let state = Locked(State())

        init(_ task: AnyRequestTask<Output>, _ subscriber: @escaping (Result<Output, any Error>) -> Void) {
            self.task = task
            state.withLock { $0.subscriber = subscriber }
        }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            state.withLock { state in
                guard state.work == nil, !state.isCancelled else { return }
                state.work = Task { await self.run() }
            }
        }

        func cancel() {
            let work = state.withLock { state in
                state.isCancelled = true
                state.subscriber = nil
                return state.work
            }
            work?.cancel()
        }

        private func run() async {
            let result = await Result.of { try await task.result() }
            state.withLock { $0.subscriber.take() }?(result)
        }
    }
#endif
