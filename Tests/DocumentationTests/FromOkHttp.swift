import Foundation
import Midstream
import MidstreamDiskCache
import MidstreamTesting
import Testing

@Suite("Coming from OkHttp and Retrofit", .timeLimit(.minutes(10)))
struct FromOkHttp {
    private struct User: Codable, Sendable { let name: String }
    private struct Session: Sendable { let token = "t" }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))
    private let session = Session()

    @Test("A request")
    func request() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let user = try await client.get("users/42").query("full", true).value(User.self)
        #expect(user.name == "Ann" && stub.requests.first?.url.absoluteString == "https://api.example.com/users/42?full=true")
    }

    @Test("Interceptors")
    func interceptors() async throws {
        struct Timing: HTTPInterceptor {
            func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
                let start = ContinuousClock.now
                let response = try await next(request)
                print(request.method, response.status, ContinuousClock.now - start)
                return response
            }
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            Timing().at(.call)
            Timing().at(.exchange)
        }
        _ = try await client.get("users/42").data()
        #expect(client.pipeline.entries.filter { $0.name == "Timing" }.map(\.stage) == [.call, .exchange])
    }

    @Test("An interface of Retrofit's")
    func interface() async throws {
        struct Users {
            let client: HTTPClient

            func user(_ id: Int) -> DataTask { client.get("users/\(id)") }
            func create(_ user: User) throws -> DataTask { try client.post("users", json: user) }
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let users = Users(client: client)
        let user = try await users.user(42).value(User.self)
        _ = try await users.create(user).data()
        #expect(stub.requests.map(\.method) == [.get, .post])
    }

    @Test("The builder's settings")
    func settings() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = HTTPClient.Configuration(timeout: .seconds(30), deadline: .seconds(60))
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub) {
            CacheInterceptor(store: DiskCacheStore(folder, maximumBytes: 50 << 20))
                .cookies()
                .bearer { [session] in session.token }
        }
        _ = try await client.get("users/42").data()
        #expect(stub.requests.first?.headers[.authorization] == "Bearer t")
    }
}
