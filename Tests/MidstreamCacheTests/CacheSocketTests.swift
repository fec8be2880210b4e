import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("A cache on real sockets", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheSocketTests {
    private func client(_ cache: CacheInterceptor) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.validators = []
        return testClient(configuration: configuration) { cache }
    }

    @Test("a thousand who miss the same send one request, and get equal bodies", arguments: [false, true])
    func collapse(streamed: Bool) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        server.respond { _ in .init(headers: ["Cache-Control": "max-age=60"], body: .bytes(content), delay: .milliseconds(300)) }
        let client = client(CacheInterceptor())
        let url = server.url("/x")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let response = streamed ? try await client.stream(HTTPRequest(url)) : try await client.send(HTTPRequest(url))
                    return try await response.body.collect() == content
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
        #expect(server.requestCount == 1)
    }

    @Test("interim responses pass, and a validation goes on the wire as one")
    func wire() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            var response = MockServer.Response(
                status: request.headers["If-None-Match"] == "\"a\"" ? 304 : 200,
                headers: ["Cache-Control": "no-cache", "ETag": "\"a\""], body: "hello")
            response.interim = [.earlyHints(links: ["</a.css>; rel=preload"])]
            return response
        }
        let heard = Locked(0)
        let client = client(CacheInterceptor())
        for _ in 0..<2 {
            var request = HTTPRequest(server.url("/x"))
            request.onInterim = { _ in heard.withLock { $0 += 1 } }
            let response = try await client.send(request)
            #expect(response.status == 200 && response.body.text == "hello")
        }
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\""])
        #expect(heard.withLock { $0 } == 2)
    }

    @Test("what is encoded on the wire is stored as it is read")
    func decoded() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in
            .init(
                headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Encoding", "Content-Encoding": "unknown"], body: "hello")
        }
        let client = client(CacheInterceptor())
        for isHit in [false, true] {
            // Who says what encodings it takes undoes them.
            let response = try await client.send(HTTPRequest(server.url("/x"), headers: ["Accept-Encoding": "unknown"]))
            #expect(response.body.text == "hello" && response.headers["Content-Encoding"] == "unknown")
            #expect(response.cacheStatus?.isHit == isHit)
        }
    }

    @Test("a server that closes the connection is answered for by what is stale, if it lets it")
    func closing() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let clock = WallClock()
        var options = CacheOptions()
        options.now = { clock.now }
        server.enqueue(.init(headers: ["Cache-Control": "max-age=2, stale-if-error=60"], body: "hello"))
        let client = client(CacheInterceptor(options: options))
        _ = try await client.send(HTTPRequest(server.url("/x")))
        clock.advance(10)
        for _ in 0..<3 { server.enqueue(.init(fault: .disconnect(.beforeHead))) }
        #expect(try await client.send(HTTPRequest(server.url("/x"))).body.text == "hello")
    }
}
