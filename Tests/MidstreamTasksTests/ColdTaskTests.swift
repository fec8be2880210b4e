import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D1 A task is cold, and modifiers decide how often it runs", .leavesNothing) struct ColdTaskTests {
    @Test func nothingIsSentBeforeTheResultIsAskedFor() async throws {
        let stub = StubTransport.json("{}")
        let task = HTTPClient.stubbed(stub).get("a").header("X", "1").decode([String: Int].self).extractPayload()
        #expect(stub.requests.isEmpty)
        _ = try await task.result()
        #expect(stub.requests.count == 1)
    }

    @Test func eachResultSendsAgainAsACallOfItsOwn() async throws {
        let stub = StubTransport.json("{}")
        let task = HTTPClient.stubbed(stub).get("a")
        _ = try await task.result()
        _ = try await task.result()
        #expect(stub.requests.count == 2)
        #expect(Set(stub.requests.map(\.id)).count == 2)
    }

    @Test func oneTaskMayRunSideBySideWithItself() async throws {
        let stub = StubTransport.json("{}")
        let task = HTTPClient.stubbed(stub).get("a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await task.result() } }
            try await group.waitForAll()
        }
        #expect(Set(stub.requests.map(\.id)).count == 20)
    }

    private struct Times: RequestTaskModifier {
        let count: Int

        func body(_ task: AnyRequestTask<Int>) async throws -> [Int] {
            var results: [Int] = []
            for _ in 0..<count { results.append(try await task.result()) }
            return results
        }
    }

    @Test(arguments: [0, 1, 3]) func aModifierMayAskNeverOnceOrManyTimesAndChangeTheType(count: Int) async throws {
        let asked = Locked(0)
        let task = MockedTask {
            asked.increment()
        }
        #expect(try await task.modifier(Times(count: count)).result() == Array(1..<(count + 1)))
        #expect(asked.withLock { $0 } == count)
    }

    @Test func theLastModifierIsTheOutermost() async throws {
        struct Around: RequestTaskModifier {
            let name: String
            let log: Log<String>

            func body(_ task: AnyRequestTask<String>) async throws -> String {
                log.add("\(name) in")
                let result = try await task.result()
                log.add("\(name) out")
                return "\(name)(\(result))"
            }
        }
        let log = Log<String>()
        let task = MockedTask { "x" }.modifier(Around(name: "a", log: log)).modifier(Around(name: "b", log: log))
        #expect(try await task.result() == "b(a(x))")
        #expect(log.entries == ["b in", "a in", "a out", "b out"])
    }

    @Test func modifiersChainOnTheContentOfAModifier() async throws {
        struct Inner: RequestTaskModifier {
            func body(_ task: AnyRequestTask<TaskResult<Data>>) async throws -> User {
                try await task.onStatusCode(.notFound) { throw Failure() }.decode(User.self).extractPayload().result()
            }
        }
        let stub = StubTransport.json(#"{"id": 1, "name": "Ann"}"#)
        #expect(try await HTTPClient.stubbed(stub).get("u").modifier(Inner()).result() == User(id: 1, name: "Ann"))
    }
}
