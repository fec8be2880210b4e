import Interception
import TestSupport
import Testing

@Suite("C. The generic chain: errors and cancellation")
struct ErrorsAndCancellationTests {
    @Test("C4 the terminal's error passes every level unwrapped")
    func terminalError() async {
        let steps = Steps()
        let watcher = ClosureInterceptor<Int, Int> { input, next in
            do {
                return try await next(input)
            } catch {
                steps.note("\(error as? Failure == Failure("x"))")
                throw error
            }
        }
        let chain = InterceptorChain([watcher, watcher]) { (_: Int) -> Int in throw Failure("x") }
        await #expect(throws: Failure("x")) { try await chain.proceed(1) }
        #expect(steps.all == ["true", "true"])
    }

    @Test("C4 an interceptor may turn an error into an output, or into another error")
    func recovered() async throws {
        let recovering = ClosureInterceptor<Int, Int> { input, next in
            do { return try await next(input) } catch { return -1 }
        }
        let translating = ClosureInterceptor<Int, Int> { input, next in
            do { return try await next(input) } catch { throw Failure("translated") }
        }
        let failing: @Sendable (Int) async throws -> Int = { _ in throw Failure() }
        #expect(try await InterceptorChain([recovering, translating], terminal: failing).proceed(1) == -1)
        await #expect(throws: Failure("translated")) {
            try await InterceptorChain([translating], terminal: failing).proceed(1)
        }
    }

    @Test("C4 cancelling the caller reaches every level")
    func cancelled() async throws {
        let steps = Steps()
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        func watcher(_ name: String) -> ClosureInterceptor<Int, Int> {
            ClosureInterceptor { input, next in
                do {
                    return try await next(input)
                } catch is CancellationError {
                    steps.note("\(name) \(Task.isCancelled)")
                    throw CancellationError()
                }
            }
        }
        let joined = watcher("b").chain(before: watcher("c"))
        let chain = InterceptorChain<Int, Int>([watcher("a"), joined, watcher("d")]) { _ in
            isStarted.yield()
            try await untilCancelled()
            return 0
        }
        let task = Task { try await chain.proceed(1) }
        for await _ in started.prefix(1) {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(steps.all == ["d true", "c true", "b true", "a true"])
    }
}
