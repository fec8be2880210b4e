import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A5. Chain helpers", .leavesNothing)
struct ChainHelperTests {
    private let steps = Steps()

    private func down(_ name: String) -> ClosureRequestInterceptor {
        let steps = steps
        return ClosureRequestInterceptor { _ in steps.note(name) }
    }

    private func up(_ name: String) -> ClosureResponseInterceptor {
        let steps = steps
        return ClosureResponseInterceptor { _ in steps.note(name) }
    }

    private func around(_ name: String) -> ClosureHTTPInterceptor {
        let steps = steps
        return ClosureHTTPInterceptor { request, next in
            steps.note("\(name)↓")
            defer { steps.note("\(name)↑") }
            return try await next(request)
        }
    }

    private struct Both: RequestInterceptor, ResponseInterceptor {
        let name: String
        let steps: Steps
        func intercept(request: inout HTTPRequest) async throws { steps.note("\(name)↓") }
        func intercept(response: inout HTTPResponse) async throws { steps.note("\(name)↑") }
    }

    private func send(through interceptor: any HTTPInterceptor) async throws -> [String] {
        _ = try await testClient(transport: StubTransport.ok) { interceptor }.send(HTTPRequest("https://h"))
        return steps.all
    }

    @Test("A5 request interceptors: before, after, in order, and chained on")
    func requests() async throws {
        let before: ChainedRequestInterceptor = down("b").chain(before: down("c"))
        let after: ChainedRequestInterceptor = before.chain(after: down("a"))
        let all: any RequestInterceptor = ChainedRequestInterceptor.chain(inOrder: [after, down("d")])
        #expect(try await send(through: all) == ["a", "b", "c", "d"])
    }

    @Test("A5 response interceptors: before, after, in order, and chained on")
    func responses() async throws {
        let before: ChainedResponseInterceptor = up("b").chain(before: up("c"))
        let after: ChainedResponseInterceptor = before.chain(after: up("a"))
        let all: any ResponseInterceptor = ChainedResponseInterceptor.chain(inOrder: [after, up("d")])
        #expect(try await send(through: all) == ["a", "b", "c", "d"])
    }

    @Test("A5 full interceptors: before, after, in order, and chained on")
    func full() async throws {
        let before: ChainedHTTPInterceptor = around("b").chain(before: around("c"))
        let after: ChainedHTTPInterceptor = before.chain(after: around("a"))
        let all = ChainedHTTPInterceptor.chain(inOrder: [after, around("d")])
        #expect(try await send(through: all) == ["a↓", "b↓", "c↓", "d↓", "d↑", "c↑", "b↑", "a↑"])
    }

    @Test("A5 a full chain that another interceptor runs itself keeps its order")
    func nested() async throws {
        let chain = around("b").chain(before: around("c")).chain(before: ChainedHTTPInterceptor.chain(inOrder: []))
        let wrapper = ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) }
        #expect(try await send(through: wrapper) == ["b↓", "c↓", "c↑", "b↑"])
    }

    @Test("A5 a branch that one of such a chain goes on in is also that of those behind the chain")
    func nestedBranch() async throws {
        let branching = ClosureHTTPInterceptor { try await $1.branch(asHedge: true)($0) }
        let chain = branching.chain(before: around("b"))
        let isHedge = Locked(false)
        let client = testClient(transport: StubTransport.ok) {
            ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) }
            ClosureHTTPInterceptor(stage: .exchange) { request, next in
                isHedge.withLock { $0 = next.isHedge }
                return try await next(request)
            }
        }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(isHedge.withLock { $0 })
    }

    @Test("A5 requests pass a chain of their kind as listed, and responses one of theirs, whoever runs it")
    func takenApart() async throws {
        let (a, b) = (Both(name: "a", steps: steps), Both(name: "b", steps: steps))
        let chains: [(any HTTPInterceptor, ArraySlice<String>)] = [
            (ChainedRequestInterceptor.chain(inOrder: [a, b]), ["a↓", "b↓", "b↑", "a↑"]),
            (ChainedResponseInterceptor.chain(inOrder: [a, b]), ["b↓", "a↓", "a↑", "b↑"]),
        ]
        for (chain, expected) in chains {
            #expect(try await send(through: chain).suffix(4) == expected)
            let wrapper = ClosureHTTPInterceptor { try await chain.intercept($0, next: $1) }
            #expect(try await send(through: wrapper).suffix(4) == expected)
            let client = testClient(transport: StubTransport.ok) { chain }
            #expect(client.interceptors.filter { $0 is Both }.count == 2)
        }
    }

    @Test("A5 kinds can be mixed")
    func mixed() async throws {
        let chain: ChainedHTTPInterceptor = around("a").chain(before: down("b")).chain(before: up("c"))
        #expect(try await send(through: chain) == ["a↓", "b", "c", "a↑"])
    }

    @Test("A5 empty lists pass through")
    func empty() async throws {
        let empties: [any HTTPInterceptor] = [
            ChainedRequestInterceptor.chain(inOrder: []), ChainedResponseInterceptor.chain(inOrder: []),
            ChainedHTTPInterceptor.chain(inOrder: []),
        ]
        for empty in empties {
            #expect(empty.stage == .attempt)
            #expect(try await send(through: empty).isEmpty)
        }
    }

    @Test("A5 a chain of one does what that one does")
    func single() async throws {
        #expect(try await send(through: ChainedRequestInterceptor.chain(inOrder: [down("a")])) == ["a"])
    }

    @Test("A5 a throw stops the later ones")
    func throwing() async {
        let failing = ClosureRequestInterceptor { _ in throw Failure() }
        let failingUp = ClosureResponseInterceptor { _ in throw Failure() }
        let chains: [any HTTPInterceptor] = [
            ChainedRequestInterceptor.chain(inOrder: [down("a"), failing, down("never")]),
            ChainedResponseInterceptor.chain(inOrder: [up("b"), failingUp, up("never")]),
            ChainedHTTPInterceptor.chain(inOrder: [down("c"), failing, down("never")]),
        ]
        for chain in chains { await #expect(throws: Failure()) { try await send(through: chain) } }
        #expect(steps.all == ["a", "b", "c"])
    }

    @Test("A5 a chain stands at the stage of its first")
    func stage() {
        let exchange = ClosureRequestInterceptor(stage: .exchange) { _ in }
        #expect(exchange.chain(before: down("a")).stage == .exchange)
        #expect(exchange.chain(after: down("a")).stage == .attempt)
        #expect(ClosureResponseInterceptor(stage: .call) { _ in }.chain(before: up("a")).stage == .call)
    }

    @Test("A5 what is both a request and a response interceptor stays both, whatever it is chained with")
    func bothKinds() async throws {
        let (a, b) = (Both(name: "a", steps: steps), Both(name: "b", steps: steps))
        #expect(try await send(through: a.chain(before: b)) == ["a↓", "b↓", "b↑", "a↑"])
        #expect(try await send(through: a.chain(after: b)).suffix(4) == ["b↓", "a↓", "a↑", "b↑"])
        #expect(try await send(through: a.chain(before: down("x"))).suffix(3) == ["a↓", "x", "a↑"])
        #expect(try await send(through: a.chain(after: down("x"))).suffix(3) == ["x", "a↓", "a↑"])
        #expect(try await send(through: a.chain(before: up("x"))).suffix(3) == ["a↓", "a↑", "x"])
        #expect(try await send(through: down("x").chain(before: a)).suffix(3) == ["x", "a↓", "a↑"])
        #expect(try await send(through: up("x").chain(before: a)).suffix(3) == ["a↓", "x", "a↑"])
        #expect(try await send(through: a.chain(before: around("x"))).suffix(4) == ["a↓", "x↓", "x↑", "a↑"])
    }
}
