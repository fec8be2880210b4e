#if compiler(>=6.3)
    import Dispatch
    import Testing

    @testable import Interception

    /// What the library starts for a caller stays where the caller is.
    @Suite(.timeLimit(.minutes(10))) struct CallersExecutorTests {
        @available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *)
        @Test func sharedWorkRunsWhereItsFirstCallerDoes() async throws {
            let executor = QueueExecutor()
            let flight = SingleFlight<Never, Bool>()
            let isThere = try await withTaskExecutorPreference(executor) { try await flight.run { executor.isCurrent } }
            #expect(isThere)
            #expect(try await flight.run { executor.isCurrent } == false)
        }

        @available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *)
        @Test func whatACompletionStyleInterceptorStartsRunsWhereItsCallerDoes() async throws {
            let executor = QueueExecutor()
            let chain = InterceptorChain<Int, Bool>(
                [FromElsewhere()]
            ) { _ in executor.isCurrent }
            #expect(try await withTaskExecutorPreference(executor) { try await chain.proceed(1) })
        }

        @available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *)
        @Test func aChainInCallbackStyleRunsWhereItsCallerDoes() async {
            let executor = QueueExecutor()
            let chain = InterceptorChain<Int, Bool>([]) { _ in executor.isCurrent }
            let isThere = await withTaskExecutorPreference(executor) {
                await withCheckedContinuation { done in
                    chain.proceed(1) { done.resume(returning: try? $0.get()) }
                }
            }
            #expect(isThere == true)
        }
    }

    /// Calls the rest of the chain from a thread that belongs to no task.
    private struct FromElsewhere: CompletionInterceptor {
        func intercept(
            _ input: Int, next: CompletionNext<Int, Bool>, completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
        ) {
            DispatchQueue.global().async { next(input) { completion($0) } }
        }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    private final class QueueExecutor: TaskExecutor {
        private static let key = DispatchSpecificKey<ObjectIdentifier>()
        private let queue = DispatchQueue(label: "executor")

        init() { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

        var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
