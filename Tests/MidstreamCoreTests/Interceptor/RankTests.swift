import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Ranks within a stage", .leavesNothing)
struct RankTests {
    private struct Ranked: RequestInterceptor, ResponseInterceptor {
        let label: String
        let stage: InterceptorStage
        let rank: InterceptorRank

        init(_ rank: InterceptorRank, _ name: String? = nil, at stage: InterceptorStage = .exchange) {
            label = name ?? rank.description
            self.stage = stage
            self.rank = rank
        }

        func intercept(request: inout HTTPRequest) async throws {}

        func intercept(response: inout HTTPResponse) async throws {}

        func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known(label) }
    }

    private static let ranks: [InterceptorRank] = [
        .cookies, .credentials, .cache, .hedging, .breaker, .quota, .concurrency, .deadline, .signing, .ordinary,
    ]

    /// In the order in which the pipeline has them.
    private func labels(_ interceptors: [any HTTPInterceptor]) -> [String] {
        testClient(transport: StubTransport.ok) { interceptors }.interceptors.compactMap { interceptor in
            (interceptor as? Ranked)?.label ?? (interceptor is ClosureRequestInterceptor ? interceptor.name : nil)
        }
    }

    @Test("any permutation of a list prints the same pipeline, in a chain of each kind as well")
    func permutations() {
        let ordered = Self.ranks.map(\.description)
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let list = Self.ranks.shuffled(using: &generator).map { Ranked($0) }
            #expect(labels(list) == ordered)
            #expect(labels([ChainedHTTPInterceptor.chain(inOrder: list)]) == ordered)
            #expect(labels([ChainedRequestInterceptor.chain(inOrder: list)]) == ordered)
            #expect(labels([ChainedResponseInterceptor.chain(inOrder: list)]) == ordered)
        }
    }

    @Test("within a rank the list's order counts, and nothing said means ordinary")
    func listOrder() {
        #expect(
            labels([Ranked(.ordinary, "a"), Ranked(.signing, "b"), ClosureRequestInterceptor("c", stage: .exchange) { _ in }])
                == ["b", "a", "c"])
    }

    @Test("a rank goes before the scope: a request's own interceptor signs inside the client's cache")
    func scopes() async throws {
        let client = testClient(transport: StubTransport.ok) {
            Ranked(.cache, "client's cache")
            Ranked(.ordinary, "client's log")
        }
        var request = HTTPRequest("https://h/")
        request.interceptors = [Ranked(.ordinary, "own log"), Ranked(.signing, "own signer"), Ranked(.cache, "own cache")]
        let explained = try await client.explain(request).steps.filter { $0.stage == .exchange }.compactMap(\.plan.text)
        #expect(explained == ["own cache", "client's cache", "own signer", "own log", "client's log"])
    }

    @Test("a rank stays when an interceptor is put at another stage")
    func otherStage() {
        #expect(
            labels([Ranked(.ordinary, "plain").at(.attempt), Ranked(.cookies, "cookies").at(.attempt)]) == ["cookies", "plain"])
    }
}
