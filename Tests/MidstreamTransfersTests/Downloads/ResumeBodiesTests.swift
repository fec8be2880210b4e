import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

@Suite("Bodies in memory that break off", .leavesNothing, .timeLimit(.minutes(10)))
struct ResumeBodiesTests {
    private static let content = FileServer.content(100_000)
    private let server: FileServer

    init() throws { server = try FileServer(Self.content) }

    private func client(_ limit: Int = 5, budget: RetryBudget? = RetryBudget()) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.retryBudget = budget
        return testClient(configuration: configuration) { ResumeBodies(upTo: limit) }
    }

    private var ranges: [String?] { server.requests.map { $0.headers[.range] } }

    @Test("The rest is asked for and joined; the head is that of the whole")
    func resuming() async throws {
        server.cut(40_000, 10_000)
        let response = try await client().send(HTTPRequest(server.url))
        #expect(response.body.bytes == Self.content)
        #expect(response.status == .ok && response.headers[.contentRange] == nil && response.metrics?.total != nil)
        #expect(ranges == [nil, "bytes=40000-", "bytes=50000-"])
        #expect(response.trace.description.contains("the body broke off after 40000 bytes; asks for the rest"))
    }

    @Test("A version that has changed is taken as a whole")
    func replaced() async throws {
        let other = FileServer.content(70_000, seed: 2)
        server.cut(40_000)
        server.next({ _ in }, { $0 = .init(headers: ["ETag": "\"2\"", "X": "2"], body: .bytes(other)) })
        let response = try await client().send(HTTPRequest(server.url))
        #expect(response.body.bytes == other && response.headers["X"] == "2")
    }

    @Test("What isn't the rest of the same version, or isn't allowed, leaves the failure")
    func failures() async throws {
        func code(_ client: HTTPClient, _ request: HTTPRequest? = nil) async -> HTTPError.Code? {
            await httpError { try await client.send(request ?? HTTPRequest(server.url)) }?.code
        }
        server.cut(40_000)
        server.next({ _ in }, { $0.headers[.etag] = "\"2\"" })
        #expect(await code(client()) == .connectionLost)
        server.cut(40_000)
        server.next({ _ in }, { $0 = .init(status: 404) })
        #expect(await code(client()) == .connectionLost)
        server.cut(10, 10, 10)
        #expect(await code(client(2)) == .connectionLost)
        server.cut(10)
        #expect(await code(client(budget: RetryBudget(share: 0, reserve: 0))) == .connectionLost)
        server.cut(10)
        #expect(await code(client(), HTTPRequest(.post, server.url)) == .connectionLost)
        server.replace(Self.content, eTag: "W/\"1\"")
        server.cut(10)
        #expect(await code(client()) == .connectionLost)
        // By the cases above: 2, 2, 3, and 1 for each of the others.
        #expect(ranges.count == 10)
    }

    @Test("The limit of what is taken into memory holds, and streams stay streams")
    func limits() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.maximumBufferedBody = 99_999
        let small = testClient(configuration: configuration) { ResumeBodies() }
        #expect(await httpError { try await small.send(HTTPRequest(server.url)) }?.code == .bodyTooLarge)
        let response = try await client().stream(HTTPRequest(server.url))
        #expect(response.body.bytes == nil)
        #expect(try await response.body.collect() == Self.content)
    }
}
