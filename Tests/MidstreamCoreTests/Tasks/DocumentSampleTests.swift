import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import Testing

/// A server that accepts one token, and gives out a new one.
private actor Session {
    private(set) var token = "old"
    private(set) var refreshes = 0
    private let refreshing = SingleFlight<Never, Void>()
    private let fetch: @Sendable () async throws -> String

    init(fetch: @escaping @Sendable () async throws -> String) { self.fetch = fetch }

    /// Refreshes the token, once for all who ask while it happens.
    func refresh(_ rejected: String) async throws {
        try await refreshing.run { try await self.replace(rejected) }
    }

    private func replace(_ rejected: String) async throws {
        // Who comes late, with a token that has been replaced in the meantime, only has to try again.
        guard rejected == token else { return }
        refreshes += 1
        token = try await fetch()
    }
}

private struct TokenRefreshModifier: RequestTaskModifier {
    typealias Input = TaskResult<Data>

    let session: Session

    func body(_ task: Content) async throws -> Input {
        let token = await session.token
        let result = try await task.result()

        guard result.head.status.code == 401 else {
            return result
        }

        // What the refresh throws ends the task before this line.
        try await session.refresh(token)
        return try await task.result()
    }
}

extension RequestTask where Element == TaskResult<Data> {
    fileprivate func refreshToken(_ session: Session) -> AnyRequestTask<TaskResult<Data>> {
        modifier(TokenRefreshModifier(session: session))
    }
}

private struct InternalServerError: Error {}

private struct DefaultsModifier<Object: Decodable & Sendable>: RequestTaskModifier {
    typealias Input = TaskResult<Data>

    let objectType: Object.Type
    let session: Session

    func body(_ task: Content) async throws -> Object {
        try await task
            .onStatusCode(.internalServerError) {
                throw InternalServerError()
            }
            .refreshToken(session)
            .keyPath(\.result)
            .decode(objectType)
            .extractPayload()
            .result()
    }
}

private struct AlwaysPrintInterceptor<Element: Sendable>: RequestTaskInterceptor {
    let print: @Sendable (String) -> Void

    func output(_ result: Result<Element, any Error>) {
        switch result {
        case .success(let element):
            print("[Success] \(element)")
        case .failure(let error):
            print("[Failure] \(error)")
        }
    }
}

@Suite("D6, D7 The samples of the document") struct DocumentSampleTests {
    /// Accepts the token `new` alone.
    private let stub = StubTransport { request in
        let isAccepted = request.headers[.authorization] == "Bearer new"
        return HTTPResponse(
            status: isAccepted ? .ok : .unauthorized, body: .text(#"{"result": {"id": 1, "name": "Ann"}}"#), request: request)
    }

    private func client(_ session: Session) -> HTTPClient {
        HTTPClient(baseURL: "https://example.com", transport: stub) {
            ClosureRequestInterceptor { request in
                request.headers[.authorization] = "Bearer \(await session.token)"
            }
        }
    }

    @Test func d6ARefusedTokenIsRefreshedAndTheRequestSentAgain() async throws {
        let session = Session { "new" }
        let result = try await client(session).get("users/1").refreshToken(session).result()
        #expect(result.head.status == .ok)
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(await session.refreshes == 1)
    }

    @Test func d6ManyConcurrentTasksRefreshOnce() async throws {
        let clock = TestClock()
        let session = Session {
            try await clock.sleep(for: .seconds(1))
            return "new"
        }
        let client = client(session)
        let group = GroupTask(0..<50, concurrency: 50) { client.get("users/\($0)").refreshToken(session) }
        let running = Task { try await group.result() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        let results = try await running.value
        #expect(results.count == 50)
        for result in results.values { #expect(try result.get().head.status == .ok) }
        #expect(await session.refreshes == 1)
    }

    @Test func d6AFailedRefreshReachesTheCallerAndNothingIsSentAgain() async throws {
        let session = Session { throw TestFailure("login") }
        let error = await failure { try await client(session).get("users/1").refreshToken(session).result() }
        #expect(error as? TestFailure == TestFailure("login"))
        #expect(stub.requests.count == 1)
    }

    @Test func d7TheProjectDefaultsWorkAsOneModifier() async throws {
        let session = Session { "new" }
        let user = try await client(session).get("users/1")
            .modifier(DefaultsModifier(objectType: User.self, session: session))
            .result()
        #expect(user == User(id: 1, name: "Ann"))
        #expect(await session.refreshes == 1)
    }

    @Test func d7TheProjectDefaultsThrowForTheirStatus() async throws {
        let session = Session { "new" }
        let failing = HTTPClient.stubbed(StubTransport(status: 500))
        let error = await failure {
            try await failing.get("users/1").modifier(DefaultsModifier(objectType: User.self, session: session)).result()
        }
        #expect(error is InternalServerError)
    }

    @Test func d2AnInterceptorPrintsEachResult() async throws {
        let log = Log<String>()
        let session = Session { "new" }
        let task = client(session).get("users/1").refreshToken(session)
            .map { $0.head.status.code }
            .interceptor(AlwaysPrintInterceptor { log.add($0) })
        #expect(try await task.result() == 200)
        #expect(log.entries == ["[Success] 200"])
    }
}
