import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing) struct MockServerBasicsTests {
    @Test func answersFromTheQueueInOrderThenFromTheClosureThenWith404() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: .created, body: "one"), .init(body: "two"))
        let first = try await CurlCommand.run("-w", "|%{http_code}", server.url("/a?x=1&y=%20z&flag"))
        #expect(first.text == "one|201")
        #expect(try await CurlCommand.run(server.url("b")).text == "two")
        #expect(try await CurlCommand.run("-w", "|%{http_code}", server.url("/c")).text.hasSuffix("|404"))
        server.respond { .init(body: .text("you asked for \($0.path)")) }
        #expect(try await CurlCommand.run(server.url("/d")).text == "you asked for /d")

        let request = try await server.takeRequest()
        #expect(request.path == "/a")
        #expect(request.query("y") == " z")
        #expect(request.query.map(\.name) == ["x", "y", "flag"])
        #expect(request.headers[.host] == "127.0.0.1:\(server.port)")
        #expect(server.requestCount == 4)
        #expect(server.requests.map(\.path) == ["/a", "/b", "/c", "/d"])
    }

    @Test func aRequestThatDoesNotComeIsAFailure() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let failure = await #expect(throws: MockServer.Failure.self) { try await server.takeRequest(within: .zero) }
        #expect(failure?.description == "No request came within 0.0 seconds.")
        _ = try await CurlCommand.run(server.url("/a"))
        #expect(try await server.takeRequest(within: .zero).path == "/a")
    }

    @Test func aSingleResponseWithoutArgumentsIsNoEmptyArray() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        server.enqueue([.init(status: .created), .init(status: .accepted)])
        for status in ["200", "201", "202"] {
            #expect(try await CurlCommand.run("-w", "%{http_code}", server.url()).text == status)
        }
    }
}
