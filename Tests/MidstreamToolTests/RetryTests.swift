import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("The tool retries and shows whatever comes last", .leavesNothing)
struct RetryTests {
    private func responses(_ retries: Int, _ method: HTTPMethod, _ statuses: [HTTPStatus]) async throws -> ([Int], HTTPStatus) {
        let stub = StubTransport(sequence: statuses.map { .respond($0, headers: [.retryAfter: "0"]) })
        // No timeout: on this clock it would be over at once.
        let configuration = HTTPClient.Configuration(
            timeout: nil, maxRetries: retries, validators: [RetryWhileLeft(retries: retries)], retryBudget: nil, clock: Hurry())
        let response = try await testClient(configuration: configuration, transport: stub)
            .stream(HTTPRequest(method, "https://h/"))
        return (stub.requests.map(\.attempt), response.status)
    }

    @Test func asOftenAsItIsTold() async throws {
        #expect(try await responses(3, .get, [503, 503, 200]) == ([1, 2, 3], 200))
        #expect(try await responses(2, .get, [503, 503, 503]) == ([1, 2, 3], 503))
        #expect(try await responses(0, .get, [503]) == ([1], 503))
        #expect(try await responses(3, .get, [404]) == ([1], 404))
    }

    @Test func neverWhatMayNotBeSentTwice() async throws {
        #expect(try await responses(3, .post, [503]) == ([1], 503))
    }

    @Test(
        "within a budget where the standard set says how often",
        arguments: [(["--standard"], true), (["--standard", "--retries", "3"], false), (["--retries", "3"], false)])
    func budget(words: [String], isThere: Bool) throws {
        let client = try Invocation(Arguments(["get", "h"] + words)).client([], StubTransport(sequence: []))
        #expect((client.retryBudget != nil) == isThere)
    }
}

@Suite("The tool's requests", .leavesNothing)
struct RequestHeadTests {
    @Test("have nothing in them that nobody has asked for", .timeLimit(.minutes(10)))
    func fields() async throws {
        // The tool uses the process's own transport, which stays.
        Belongings.current?.excuse("WireLoop")
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello"))
        let file = temporaryPath("midst-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await Invocation(Arguments(["get", server.url("/x"), "--output", file.path])).run() == 0)
        let names = try await server.takeRequest().headers.map { $0.name.rawValue.lowercased() }
        #expect(Set(names) == ["host", "accept", "accept-encoding", "user-agent"])
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
    }
}

/// A clock on which waits take no time.
private struct Hurry: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws { try Task.checkCancellation() }
}
