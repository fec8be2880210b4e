import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

#if os(Linux)
    import MidstreamCurl
#endif

/// The rule finds what it is there for. Things are kept past the end of an inner test, and let go before that of the outer one.
@Suite("The rule that a test leaves nothing", .leavesNothing, .timeLimit(.minutes(10)))
struct LeavesNothingTests {
    private static let kept = Locked<(any Sendable)?>(nil)

    /// Runs something as a test of its own with the rule, and expects it to find things, the named one among them.
    private func expectFound(_ name: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await LeavesNothing(patience: .milliseconds(20))
                .provideScope(for: test, testCase: Test.Case.current, performing: body)
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains(test.name) && $0.rawValue.contains(name) }
        }
    }

    @Test func aBodyThatStaysOpenIsFound() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "0123456789", fault: .stall(.insideBody(afterBytes: 3))))
        let url = server.url()
        let kept = Locked<HTTPResponse?>(nil)
        #if os(Linux)
            let holder = platformTransport() is CurlTransport ? "CurlLoop" : "WireLoop"
        #else
            let holder = "SessionDelegate"
        #endif
        try await expectFound(holder) {
            let response = try await testClient().stream(HTTPRequest(url))
            kept.withLock { $0 = response }
        }
    }

    @Test func aTransportThatStaysIsFound() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let url = server.url()
        defer { Self.kept.withLock { $0 = nil } }
        try await expectFound("Transport") {
            let transport = platformTransport()
            Self.kept.withLock { $0 = transport }
            _ = try await transport.send(HTTPRequest(url))
        }
    }

    @Test func aServerThatStaysOpenIsFound() async throws {
        let kept = Locked<MockServer?>(nil)
        try await expectFound("ServerState") {
            let server = try MockServer()
            kept.withLock { $0 = server }
        }
    }

    @Test func aTaskThatGoesOnIsFound() async throws {
        let kept = Locked<Task<Void, any Error>?>(nil)
        try await expectFound("HTTPClient") {
            let client = testClient(transport: StubTransport.ok)
            let task = Task {
                try await untilCancelled()
                _ = try await client.send(HTTPRequest("https://h"))
            }
            kept.withLock { $0 = task }
        }
        let task = kept.withLock { $0 }
        task?.cancel()
        _ = await task?.result
    }

    @Test func aFileThatStaysIsFound() async throws {
        let name = "midstream-\(UUID().uuidString)"
        try await expectFound(name) { try Data().write(to: temporaryPath(name)) }
        try FileManager.default.removeItem(at: temporaryPath(name))
    }

    @Test func whatEndsInTimeIsntFound() async throws {
        let test = try #require(Test.current)
        try await LeavesNothing().provideScope(for: test, testCase: Test.Case.current) {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { .init(body: .bytes($0.body)) }
            let file = try TemporaryFolder().file([1, 2, 3])
            let client = testClient(baseURL: server.url())
            let response = try await client.stream(HTTPRequest(.post, "x", body: .bytes([1])))
            _ = try await client.send(HTTPRequest(.post, "x", body: .bytes([1])))
            withExtendedLifetime((file, response)) {}
        }
    }
}
