#if compiler(>=6.3) && os(Linux)
    import Dispatch
    import TestSupport
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
#endif
