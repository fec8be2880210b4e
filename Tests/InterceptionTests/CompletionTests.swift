import Dispatch
import Foundation
import Interception
import TestSupport
import Testing

/// An interceptor in callbacks that is written as a closure.
private struct InCallbacks: CompletionInterceptor {
    typealias Completion = @Sendable (Result<String, any Error>) -> Void
    let body: @Sendable (String, CompletionNext<String, String>, @escaping Completion) -> Void

    func intercept(_ input: String, next: CompletionNext<String, String>, completion: @escaping Completion) {
        body(input, next, completion)
    }

    /// Passes on at once, and back from another thread.
    static func later(_ name: String) -> InCallbacks {
        InCallbacks { input, next, completion in
            DispatchQueue.global().async {
                next(input + name) { result in
                    DispatchQueue.global().async { completion(result.map { $0 + name }) }
                }
            }
        }
    }
}

@Suite("C5. Completion style")
struct CompletionTests {
    @Test("C5 an interceptor in callbacks stands among those in async style")
    func synchronous() async throws {
        let callback = InCallbacks { input, next, completion in
            next(input + "b") { completion($0.map { $0 + "b" }) }
        }
        let chain = InterceptorChain(echoing: [Named("a"), callback, Named("c")])
        #expect(try await chain.proceed("") == "abc|cba")
    }

    @Test("C5 completions may come later and from another thread")
    func asynchronous() async throws {
        let chain = InterceptorChain(
            [InCallbacks.later("a"), Named("b"), InCallbacks.later("c")],
            completionTerminal: { (input: String, completion) in
                DispatchQueue.global().async { completion(.success(input + "|")) }
            })
        #expect(try await chain.proceed("") == "abc|cba")
    }

    private enum Caller {
        @TaskLocal static var name = "nobody"
    }

    @Test("C5 what a callback starts has the caller's task-local values, whichever thread it comes from")
    func taskLocalValues() async throws {
        let chain = InterceptorChain<String, String>([InCallbacks.later("a"), InCallbacks.later("b")]) { $0 + Caller.name }
        let answer = try await Caller.$name.withValue("|") { try await chain.proceed("") }
        #expect(answer == "ab|ba")
    }

    @Test("C5 what is set around next holds there")
    func taskLocalValuesAroundNext() async throws {
        let naming = InCallbacks { input, next, completion in
            Caller.$name.withValue("own") { next(input, completion: completion) }
        }
        let chain = InterceptorChain<String, String>([naming]) { $0 + Caller.name }
        #expect(try await chain.proceed("") == "own")
    }

    @Test("C5 the worked example holds with callbacks throughout")
    func workedExample() async throws {
        struct Times: CompletionInterceptor {
            let change: @Sendable (Int) -> Int
            let word: String
            func intercept(
                _ input: Int, next: CompletionNext<Int, String>,
                completion: @escaping @Sendable (Result<String, any Error>) -> Void
            ) {
                next(change(input)) { completion($0.map { "\($0) \(word)" }) }
            }
        }
        let chain = InterceptorChain<Int, String>(
            [Times(change: { $0 * 3 }, word: "multiplied"), Times(change: { $0 / 2 }, word: "divided")],
            completionTerminal: { $1(.success("result: \($0)")) })
        #expect(try await chain.proceed(6) == "result: 9 divided multiplied")
    }

    @Test("C5 errors pass unwrapped through callbacks")
    func errors() async {
        let terminal = InterceptorChain<String, String>(
            [InCallbacks.later("a")], completionTerminal: { $1(.failure(Failure("terminal"))) })
        await #expect(throws: Failure("terminal")) { try await terminal.proceed("") }
        let interceptor = InterceptorChain(echoing: [InCallbacks { $2(.failure(Failure("own"))) }])
        await #expect(throws: Failure("own")) { try await interceptor.proceed("") }
    }

    @Test("C5 next may be called never or often")
    func neverAndOften() async throws {
        let never = InCallbacks { input, _, completion in completion(.success("short")) }
        #expect(try await InterceptorChain(echoing: [never, Named("x")]).proceed("") == "short")
        let steps = Steps()
        let twice = InCallbacks { input, next, completion in
            next(input) { first in
                next(input) { second in
                    steps.note("\(first) \(second)")
                    completion(second)
                }
            }
        }
        #expect(try await InterceptorChain(echoing: [twice, Named("x", steps)]).proceed("") == "x|x")
        #expect(steps.all.filter { $0 == "x down" }.count == 2)
    }

    #if os(macOS) || os(Linux)  // where tests can run in a process of their own
        @Test("C5 of two completions the first stands, and the second is reported on standard error")
        func twice() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let chain = InterceptorChain(echoing: [
                    InCallbacks { _, _, completion in
                        completion(.success("first"))
                        completion(.success("second"))
                        completion(.failure(Failure()))
                    }
                ])
                let answer = try await chain.proceed("")
                #expect(answer == "first")
            }
            let report = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(report.components(separatedBy: "completion handler was called a second time").count == 3)
        }

        @Test("C5 of two completions of a terminal the first stands")
        func terminalTwice() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let chain = InterceptorChain<Int, Int>(completionTerminal: { input, completion in
                    completion(.success(input))
                    completion(.failure(Failure()))
                })
                let answer = try await chain.proceed(7)
                #expect(answer == 7)
            }
            #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("a second time"))
        }
    #endif

    @Test("C5 a completion that is dropped surfaces as an error")
    func dropped() async {
        let interceptor = InterceptorChain(echoing: [InCallbacks { _, _, _ in }])
        await #expect(throws: CompletionDropped()) { try await interceptor.proceed("") }
        let terminal = InterceptorChain<String, String>(completionTerminal: { _, _ in })
        await #expect(throws: CompletionDropped()) { try await terminal.proceed("") }
    }

    @Test("C5 a completion that is dropped later surfaces as an error too")
    func droppedLater() async {
        let chain = InterceptorChain(echoing: [
            InCallbacks { input, next, completion in
                next(input) { _ in
                    DispatchQueue.global().async { withExtendedLifetime(completion) {} }
                }
            }
        ])
        await #expect(throws: CompletionDropped()) { try await chain.proceed("") }
    }

    @Test("C4 cancellation reaches what callbacks have started")
    func cancelled() async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let chain = InterceptorChain<String, String>([InCallbacks.later("a"), InCallbacks.later("b")]) { _ in
            isStarted.yield()
            try await untilCancelled()
            return ""
        }
        let task = Task { try await chain.proceed("") }
        for await _ in started.prefix(1) {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("C4 what a callback starts after the cancellation is cancelled from the start")
    func startedAfterCancellation() async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let retrying = InCallbacks { input, next, completion in
            next(input) { _ in next(input, completion: completion) }
        }
        let chain = InterceptorChain<String, String>([retrying]) { _ in
            isStarted.yield()
            try await untilCancelled()
            return ""
        }
        let task = Task { try await chain.proceed("") }
        for await _ in started.prefix(1) {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("proceed(_:completion:) hands the outcome over exactly once")
    func proceedWithCompletion() async {
        let chain = InterceptorChain<Int, Int>([ClosureInterceptor { try await $1($0) + 1 }]) { input in
            if input < 0 { throw Failure("negative") }
            return input
        }
        let good = await withCheckedContinuation { done in chain.proceed(1) { done.resume(returning: $0) } }
        #expect(throws: Never.self) { try #expect(good.get() == 2) }
        let bad = await withCheckedContinuation { done in chain.proceed(-1) { done.resume(returning: $0) } }
        #expect(throws: Failure("negative")) { try bad.get() }
    }

    @Test("the task of proceed(_:completion:) cancels every level")
    func cancelProceed() async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let chain = InterceptorChain<Int, Int>([ClosureInterceptor { try await $1($0) }]) { _ in
            isStarted.yield()
            try await untilCancelled()
            return 0
        }
        let (results, hasResult) = AsyncStream.makeStream(of: Result<Int, any Error>.self)
        let task = chain.proceed(1) { hasResult.yield($0) }
        for await _ in started.prefix(1) {}
        task.cancel()
        for await result in results.prefix(1) { #expect(throws: CancellationError.self) { try result.get() } }
    }

    @Test("CompletionDropped says what happened")
    func droppedDescription() {
        #expect("\(CompletionDropped())".contains("without having been called"))
    }
}
