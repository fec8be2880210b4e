import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Coming from task modifiers and task interceptors")
struct FromTaskModifiers {
    /// A server that knows the fresh token alone.
    private func client(_ session: TokenSession) -> (HTTPClient, StubTransport) {
        let transport = StubTransport { request in
            let isFresh = request.headers[.authorization] == "Bearer fresh"
            return HTTPResponse(
                status: isFresh ? .ok : .unauthorized, body: .text(#"{"result": {"name": "Ann"}}"#), request: request)
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            ClosureRequestInterceptor("Session") { $0.headers[.authorization] = "Bearer \(await session.token)" }
        }
        return (client, transport)
    }

    @Test("D4 D6 A modifier sees the 401, refreshes, and asks the task again")
    func tokenRefresh() async throws {
        let fetches = Recorder()
        let session = TokenSession {
            fetches.write("fetch"); return "fresh"
        }
        let (client, transport) = client(session)
        let result = try await client.get("users/42")
            .modifier(TokenRefreshModifier(session: session))
            .result()
        #expect(result.head.status == .ok)
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer expired", "Bearer fresh"])
        #expect(fetches.events.count == 1)
    }

    struct User: Codable, Sendable, Equatable { let name: String }

    @Test("D6 Many tasks at once refresh once")
    func sharedRefresh() async throws {
        let clock = TestClock()
        let fetches = Recorder()
        let session = TokenSession {
            fetches.write("fetch")
            try await clock.sleep(for: .seconds(1))
            return "fresh"
        }
        let (client, _) = client(session)
        let group = GroupTask(0..<20, concurrency: 20) { number in
            client.get("users/\(number)").modifier(TokenRefreshModifier(session: session))
        }
        let running = Task { try await group.result() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        let results = try await running.value
        #expect(results.count == 20)
        #expect(try results.values.allSatisfy { try $0.get().head.status == .ok })
        #expect(fetches.events.count == 1)
    }

    @Test("D6 A refresh that fails reaches the caller, and nothing is sent again")
    func failedRefresh() async throws {
        let session = TokenSession { throw CocoaError(.userCancelled) }
        let (client, transport) = client(session)
        await #expect(throws: CocoaError(.userCancelled)) {
            try await client.get("users/42").modifier(TokenRefreshModifier(session: session)).result()
        }
        #expect(transport.requests.count == 1)
    }

    @Test("D7 The defaults of a project in one modifier")
    func defaults() async throws {
        let fetches = Recorder()
        let session = TokenSession {
            fetches.write("fetch"); return "fresh"
        }
        let (client, _) = client(session)
        let user = try await client.get("users/42")
            .modifier(DefaultsModifier(objectType: User.self, session: session))
            .result()
        #expect(user == User(name: "Ann"))
        #expect(fetches.events.count == 1)

        let broken = MockedTask(status: .internalServerError)
        await #expect(throws: InternalServerError.self) {
            try await broken.modifier(DefaultsModifier(objectType: User.self, session: session)).result()
        }
    }

    struct AlwaysPrintInterceptor<Element: Sendable>: RequestTaskInterceptor {
        func output(_ result: Result<Element, any Error>) {
            switch result {
            case .success(let element):
                print("[Success]", element)
            case .failure(let error):
                print("[Failure]", error)
            }
        }
    }

    @Test("D2 A task interceptor sees the result and can't change it")
    func alwaysPrint() async throws {
        let client = HTTPClient(
            baseURL: "https://api.example.com", transport: StubTransport(status: .ok, body: .text("hello")))
        let text = try await client.get("greeting")
            .interceptor(AlwaysPrintInterceptor())
            .string()
        #expect(text == "hello")
    }

    @Test("D1 A task is cold")
    func cold() async throws {
        let transport = StubTransport(status: .ok, body: .text(#"{"name": "Ann"}"#))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport)
        let user = client.get("users/42").decode(User.self).extractPayload()  // sends nothing

        let now = try await user.result()  // sends
        let later = try await user.result()  // sends again
        #expect(now == later)
        #expect(transport.requests.count == 2)
    }

    @Test("D5 A group, and a task without a network")
    func groups() async throws {
        let client = HTTPClient(
            baseURL: "https://api.example.com", transport: StubTransport(status: .ok, body: .text("hello")))
        let pages = GroupTask(["home", "about"]) { client.get($0) }
        for (name, page) in try await pages.result() {
            print(name, try page.get().head.status)
        }
        let refused = MockedTask(status: .unauthorized, body: #"{"error": "expired"}"#)
        #expect(try await refused.result().head.status == .unauthorized)
    }
}

struct DefaultsModifier<Object: Decodable & Sendable>: RequestTaskModifier {
    typealias Input = TaskResult<Data>

    let objectType: Object.Type
    let session: TokenSession

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

extension RequestTask where Element == TaskResult<Data> {
    func refreshToken(_ session: TokenSession) -> AnyRequestTask<TaskResult<Data>> {
        modifier(TokenRefreshModifier(session: session))
    }
}

/// Knows the token of the moment, and refreshes it once for all who ask at the same time.
actor TokenSession {
    private(set) var token = "expired"
    private let refreshing = SingleFlight<Never, Void>()
    private let fetch: @Sendable () async throws -> String

    init(fetch: @escaping @Sendable () async throws -> String) {
        self.fetch = fetch
    }

    func refresh(_ rejected: String) async throws {
        try await refreshing.run { try await self.replace(rejected) }
    }

    private func replace(_ rejected: String) async throws {
        guard rejected == token else { return }  // somebody was faster
        token = try await fetch()
    }
}

struct InternalServerError: Error {}

struct TokenRefreshModifier: RequestTaskModifier {
    typealias Input = TaskResult<Data>

    let session: TokenSession

    func body(_ task: Content) async throws -> Input {
        let token = await session.token
        let result = try await task.result()

        guard result.head.status == .unauthorized else {
            return result
        }

        // A refresh that fails throws, and then nothing more is sent.
        try await session.refresh(token)
        return try await task.result()
    }
}
