import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("D3 Modifiers of values and errors", .leavesNothing) struct ResultModifierTests {
    private let seven = MockedTask { 7 }
    private let failing = MockedTask<Int> { throw Failure("a") }
    private let cancelled = MockedTask<Int> { throw CancellationError() }

    @Test func mapMakesSomethingElse() async throws {
        #expect(try await seven.map { "\($0)" }.result() == "7")
        #expect(
            await failure { try await seven.map { _ -> Int in throw Failure("b") }.result() } as? Failure
                == Failure("b"))
        #expect(await failure { try await failing.map { $0 + 1 }.result() } as? Failure == Failure("a"))
    }

    @Test func mapErrorRecoversOrThrowsAnotherError() async throws {
        #expect(try await failing.mapError { _ in 8 }.result() == 8)
        #expect(try await seven.mapError { _ in 8 }.result() == 7)
        let error = await failure {
            try await failing.mapError { throw Failure("not \(($0 as? Failure)?.reason ?? "")") }.result()
        }
        #expect(error as? Failure == Failure("not a"))
    }

    @Test func flatMapGetsSuccessAndFailure() async throws {
        let describe: @Sendable (Result<Int, any Error>) async throws -> String = { result in
            switch result {
            case .success(let value): return "value \(value)"
            case .failure(let error): return "error \(type(of: error))"
            }
        }
        #expect(try await seven.flatMap(describe).result() == "value 7")
        #expect(try await failing.flatMap(describe).result() == "error Failure")
        #expect(try await cancelled.flatMap(describe).result() == "error CancellationError")
    }

    @Test func flatMapErrorRethrowsTheOriginalUnlessItThrows() async throws {
        let log = Log<String>()
        let original = await failure { try await failing.flatMapError { log.add("\(type(of: $0))") }.result() }
        #expect(original as? Failure == Failure("a"))
        let other = await failure { try await failing.flatMapError { _ in throw Failure("b") }.result() }
        #expect(other as? Failure == Failure("b"))
        #expect(try await seven.flatMapError { _ in log.add("never") }.result() == 7)
        #expect(log.entries == ["Failure"])
    }

    @Test func aCancellationPassesByWhatRecoversFromErrors() async throws {
        let log = Log<String>()
        let errors = [
            await failure { try await cancelled.mapError { _ in 1 }.result() },
            await failure { try await cancelled.flatMapError { _ in throw Failure() }.result() },
            await failure {
                try await cancelled.askAgain(
                    3,
                    when: { _ in
                        log.add("asked"); return true
                    }
                ).result()
            },
        ]
        #expect(errors.allSatisfy { $0 is CancellationError })
        #expect(log.entries.isEmpty)
    }

    @Test func decodeKeepsTheHead() async throws {
        let client = HTTPClient.stubbed(.json(#"{"id": 1, "name": "Ann"}"#, status: .created))
        let result = try await client.get("u").decode(User.self).result()
        #expect(result.head.status == .created)
        #expect(result.payload == User(id: 1, name: "Ann"))
        #expect(try await client.get("u").extractPayload().decode(User.self).result().id == 1)
    }

    @Test func decodeUsesTheDecoder() async throws {
        struct Snake: Decodable { var firstName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let client = HTTPClient.stubbed(.json(#"{"first_name": "Ann"}"#))
        #expect(try await client.get("u").value(Snake.self, decoder: decoder).firstName == "Ann")
    }

    @Test func collectReadsABodyThatIsStillArriving() async throws {
        let chunks = StubTransport { request in
            HTTPResponse(status: .ok, body: .stream { AsyncStream([[1, 2], [3]]) }, request: request)
        }
        let task = HTTPClient.stubbed(chunks).get("a").streamed()
        #expect(try await task.result().payload.bytes == nil)
        #expect(try await task.collectData().data() == Data([1, 2, 3]))
        #expect(try await task.collectBytes().extractPayload().result() == [1, 2, 3])
        let error = await failure { try await task.collectBytes(upTo: 2).result() } as? HTTPError
        #expect(error?.code == .bodyTooLarge)
        #expect((await failure { try await task.collectData(upTo: 2).result() } as? HTTPError)?.code == .bodyTooLarge)
    }

    @Test func aTaskResultKeepsEverythingWhenItIsMapped() throws {
        let rejection = HTTPError(.unacceptableStatus)
        let result = TaskResult(head: ResponseHead(status: 404), payload: 1, rejection: rejection).map { "\($0)" }
        #expect(result.payload == "1")
        #expect(result.head.status == 404)
        #expect(throws: HTTPError.self) { try result.get() }
    }
}

extension AsyncStream where Element: Sendable {
    /// A stream of elements that are there already.
    init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
