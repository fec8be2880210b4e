import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("What a request has for interceptors alone", .leavesNothing, .timeLimit(.minutes(10)))
struct NotOnTheWireTests {
    private enum Tenant: RequestContextKey { static let defaultValue = "" }

    @Test("doesn't go on the wire")
    func settings() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(status: .ok) }
        let client = testClient(baseURL: server.url("/v1"))
        let plain = HTTPRequest("users/\(42)")
        var request = plain
        request.context[Tenant.self] = "S3CR3T"
        request.route = "S3CR3T"
        request.priority = .sheddable
        request.cache = .reload
        request.allowsUnsafeRetry = true
        request.maxRetries = 3
        request.timeout = .seconds(3_600)
        request.deadline = .seconds(3_600)
        request.redirects = .refuse
        request.validators = []
        _ = try await client.send(plain)
        _ = try await client.send(request)
        let (first, second) = (try await server.takeRequest(), try await server.takeRequest())
        #expect(first.target == "/v1/users/42" && second.target == first.target)
        #expect(second.headers == first.headers && second.body.isEmpty)
    }
}
