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
            subscriber.receive(subscription: TaskSubscription(task, subscriber))
        }
    }

    /// One subscriber's call of a task.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because `state` is reached only under its lock, and the subscriber, which needn't
    ///   be `Sendable`, is taken out of it at most once and then called by that one task alone.
    private final class TaskSubscription<S: Subscriber>: Subscription, @unchecked Sendable
    where S.Input: Sendable, S.Failure == any Error {
        private struct State {
            var subscriber: S?
            var work: Task<Void, Never>?
            var isCancelled = false
        }

        private let task: AnyRequestTask<S.Input>
        private let state = Locked(State())

        init(_ task: AnyRequestTask<S.Input>, _ subscriber: S) {
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
            do {
                let value = try await task.result()
                guard let subscriber = takeSubscriber() else { return }
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            } catch {
                takeSubscriber()?.receive(completion: .failure(error))
            }
        }

        private func takeSubscriber() -> S? {
            state.withLock { state in
                defer { state.subscriber = nil }
                return state.subscriber
            }
        }
    }
#endif
