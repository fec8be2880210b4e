import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D5 GroupTask and MockedTask", .leavesNothing) struct GroupTaskTests {
    @Test func aGroupGivesAResultForEachKey() async throws {
        let stub = StubTransport { request in
            if request.url.path == "/bad" { throw HTTPError(.connection) }
            return HTTPResponse(status: .ok, body: .text(request.url.path), request: request)
        }
        let client = HTTPClient.stubbed(stub)
        let results = try await GroupTask(["a", "bad", "b"]) { client.get($0).map { try $0.get().count } }.result()
        #expect(results.count == 3)
        #expect(try results["a"]?.get() == 2)
        #expect(try results["b"]?.get() == 2)
        #expect(throws: HTTPError.self) { try results["bad"]?.get() }
    }

    @Test func aGroupTakesADictionaryOfTasks() async throws {
        let results = try await GroupTask(["a": MockedTask { 1 }, "b": MockedTask { 2 }]).result()
        #expect(try results.mapValues { try $0.get() } == ["a": 1, "b": 2])
        let empty: [Int: Result<Int, any Error>] = try await GroupTask([]) { (_: Int) in MockedTask { 1 } }.result()
        #expect(empty.isEmpty)
    }

    @Test func ofTheSameKeysTheFirstCounts() async throws {
        let made = Locked(0)
        let results = try await GroupTask([1, 1, 2]) { _ -> MockedTask<Int> in
            let number = made.increment()
            return MockedTask { number }
        }.result()
        #expect(try results.mapValues { try $0.get() } == [1: 1, 2: 2])
    }

    /// Counts how many of its tasks run at the same time.
    private actor Crowd {
        private var present = 0
        private(set) var most = 0
        func enter() {
            present += 1
            most = max(most, present)
        }
        func leave() { present -= 1 }
    }

    @Test(arguments: [1, 3]) func noMoreRunThanAllowed(concurrency: Int) async throws {
        let crowd = Crowd()
        let clock = TestClock()
        let group = GroupTask(0..<10, concurrency: concurrency) { key in
            MockedTask {
                await crowd.enter()
                try await clock.sleep(for: .seconds(1))
                await crowd.leave()
                return key
            }
        }
        let running = Task { try await group.result() }
        var done = 0
        while done < 10 {
            let batch = min(concurrency, 10 - done)
            await clock.waitForSleepers(batch)
            #expect(clock.sleepers == batch)
            clock.advance(by: .seconds(1))
            done += batch
        }
        #expect(try await running.value.count == 10)
        #expect(await crowd.most == concurrency)
    }

    @Test func aGroupThatFailsFastCancelsTheRestAndThrowsItsFailure() async throws {
        let clock = TestClock()
        let started = Log<Int>()
        let group = GroupTask(0..<5, concurrency: 2, failsFast: true) { key in
            MockedTask<Int> {
                started.add(key)
                if key == 0 {
                    await clock.waitForSleepers(1)
                    throw Failure()
                }
                try await clock.sleep(for: .seconds(1))
                return key
            }
        }
        await #expect(throws: Failure.self) { try await group.result() }
        #expect(started.entries.sorted() == [0, 1])
    }

    @Test func aRejectedStatusIsAFailureToAGroupThatFailsFast() async throws {
        let stub = StubTransport(status: .forbidden)
        let client = HTTPClient.stubbed(stub)
        let group = GroupTask(0..<5, concurrency: 1, failsFast: true) { client.get("\($0)") }
        #expect((await failure { try await group.result() } as? HTTPError)?.code == .unacceptableStatus)
        #expect(stub.requests.count == 1)
        let results = try await GroupTask(0..<2) { client.get("\($0)") }.result()
        #expect(try results.values.map { try $0.get().head.status } == [.forbidden, .forbidden])
    }

    @Test func withoutFailingFastAFailureLeavesTheOthersAlone() async throws {
        let results = try await GroupTask(0..<3, concurrency: 1) { key in
            MockedTask<Int> { if key == 0 { throw Failure() } else { return key } }
        }.result()
        #expect(try results[1]?.get() == 1)
        #expect(try results[2]?.get() == 2)
    }

    @Test func cancellingTheCallerCancelsTheGroup() async throws {
        let clock = TestClock()
        let ended = Log<String>()
        let group = GroupTask(0..<3) { _ in
            MockedTask<Int> {
                try await clock.sleep(for: .seconds(1))
                return 1
            }.detach { if case .failure(let error) = $0 { ended.add("\(type(of: error))") } }
        }
        let running = Task { try await group.result() }
        await clock.waitForSleepers(3)
        running.cancel()
        #expect(await failure { try await running.value } is CancellationError)
        #expect(ended.entries == ["CancellationError", "CancellationError", "CancellationError"])
    }

    @Test func aMockedTaskAnswersEachTimeAnew() async throws {
        let count = Locked(0)
        let task = MockedTask { () -> Int in
            count.increment()
        }
        #expect(try await task.result() == 1)
        #expect(try await task.result() == 2)
    }

    @Test func aMockedResponseIsRejectedAsAReceivedOneIs() async throws {
        let task = MockedTask(status: .unauthorized, headers: ["X": "1"], body: #"{"error": "expired"}"#)
        let result = try await task.result()
        #expect(result.head.status == .unauthorized)
        #expect(result.head.headers["X"] == "1")
        #expect((await failure { try await task.data() } as? HTTPError)?.code == .unacceptableStatus)
        #expect(try await task.acceptOnlyStatusCode([]).keyPath(\.error).value(String.self) == "expired")
        #expect(try await MockedTask(body: "[1]").value([Int].self) == [1])
    }

    @Test func aMockedTaskIsCancelledLikeAnyOther() async {
        let running = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await MockedTask { 1 }.result()
        }
        #expect(await failure { try await running.value } is CancellationError)
    }
}
