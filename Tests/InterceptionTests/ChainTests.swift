import Interception
import TestSupport
import Testing

@Suite("C. The generic chain: order, short circuit and repetition")
struct ChainTests {
    @Test("C2 the first added is outermost: the worked example")
    func workedExample() async throws {
        let chain = InterceptorChain<Int, String> { "result: \($0)" }
            .adding(ClosureInterceptor { try await $1($0 * 3) + " multiplied" })
            .adding(ClosureInterceptor { try await $1($0 / 2) + " divided" })
        #expect(try await chain.proceed(6) == "result: 9 divided multiplied")
    }

    @Test("C2 a list given at once runs in the same order as one added to")
    func listOrder() async throws {
        let steps = Steps()
        let chain = InterceptorChain(echoing: [Named("a", steps), Named("b", steps), Named("c", steps)])
        #expect(try await chain.proceed(">") == ">abc|cba")
        #expect(steps.all == ["a down", "b down", "c down", "c up", "b up", "a up"])
    }

    @Test("C2 adding leaves the chain that was added to alone")
    func addingCopies() async throws {
        let short = InterceptorChain(echoing: [Named("a")])
        let long = short.adding(Named("b"))
        #expect(try await short.proceed("") == "a|a")
        #expect(try await long.proceed("") == "ab|ba")
    }

    @Test("C2 a chain of no interceptors is its terminal")
    func emptyChain() async throws {
        #expect(try await InterceptorChain(echoing: []).proceed("x") == "x|")
    }

    @Test("C3 not calling next answers without asking further")
    func shortCircuit() async throws {
        let steps = Steps()
        let chain = InterceptorChain<String, String>([
            Named("a", steps), ClosureInterceptor { input, _ in "answer to \(input) " }, Named("never", steps),
        ]) { _ in
            steps.note("terminal")
            return ""
        }
        #expect(try await chain.proceed("x") == "answer to xa a")
        #expect(steps.all == ["a down", "a up"])
    }

    @Test("C3 calling next N times runs the rest N times, afresh", arguments: [1, 2, 5])
    func repeated(times: Int) async throws {
        let steps = Steps()
        let again = ClosureInterceptor<String, String> { input, next in
            var last = ""
            for number in 1...times { last = try await next(input + "\(number)") }
            return last
        }
        let chain = InterceptorChain<String, String>([again, Named("b")]) { input in
            steps.note(input)
            return input
        }
        #expect(try await chain.proceed(">") == ">\(times)bb")
        #expect(steps.all == (1...times).map { ">\($0)b" })
    }

    @Test("C3 next may be kept, and called from several tasks at once")
    func concurrentNext() async throws {
        let fanOut = ClosureInterceptor<Int, Int> { input, next in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for part in 1...10 { group.addTask { try await next(input * part) } }
                return try await group.reduce(0, +)
            }
        }
        let plusOne = ClosureInterceptor<Int, Int> { try await $1($0) + 1 }
        #expect(try await InterceptorChain([fanOut, plusOne]) { $0 }.proceed(2) == 120)
    }

    @Test("C2 many calls at once don't disturb each other")
    func reusedConcurrently() async throws {
        let chain = InterceptorChain<Int, Int>([
            ClosureInterceptor { try await $1($0 + 1) * 2 }, ClosureInterceptor { try await $1($0 * 3) },
        ]) { $0 }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for input in 0..<200 { group.addTask { try await chain.proceed(input) == (input + 1) * 6 } }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("chain(before:) runs this one outside, chain(after:) inside")
    func beforeAndAfter() async throws {
        let before: any Interceptor<String, String> = Named("a").chain(before: Named("b"))
        let after: any Interceptor<String, String> = Named("a").chain(after: Named("b"))
        #expect(try await InterceptorChain(echoing: [before]).proceed("") == "ab|ba")
        #expect(try await InterceptorChain(echoing: [after]).proceed("") == "ba|ab")
    }

    @Test("chain(inOrder:) runs interceptors as listed, and an empty list passes through", arguments: 0...4)
    func inOrder(count: Int) async throws {
        let names = Array("abcd".prefix(count)).map(String.init)
        let joined = ChainedInterceptor<String, String>.chain(inOrder: names.map { Named($0) })
        let chain = InterceptorChain(echoing: [Named("<"), joined, Named(">")])
        let down = names.joined()
        #expect(try await chain.proceed("") == "<\(down)>|>\(String(down.reversed()))<")
    }

    @Test("what chaining gives is an interceptor that can be chained on")
    func chainedOn() async throws {
        let joined = Named("b").chain(before: Named("c")).chain(after: Named("a")).chain(before: Named("d"))
        #expect(try await InterceptorChain(echoing: [joined]).proceed("") == "abcd|dcba")
    }

    @Test("a throw in a joined interceptor keeps the input from those further in")
    func throwInChained() async throws {
        let steps = Steps()
        let joined = Named("a", steps)
            .chain(before: ClosureInterceptor { _, _ in throw Failure() })
            .chain(before: Named("b", steps))
        await #expect(throws: Failure()) { try await InterceptorChain(echoing: [joined]).proceed("") }
        #expect(steps.all == ["a down"])
    }
}
