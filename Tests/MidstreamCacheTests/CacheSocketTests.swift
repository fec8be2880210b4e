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
        server.respond { _ in .init(headers: ["Cache-Control": "max-age=36000"], body: .bytes(content), delay: .milliseconds(300))
        }
        // Nobody's patience ends, however slow the machine is.
        var options = CacheOptions()
        options.patience = .seconds(3600)
        let client = client(CacheInterceptor(options: options))
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

    private static let plain = String(repeating: "hello, encoded world. ", count: 20)
    private static let gzip = Array(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11FIzUvOT0lNUSjPL8pJ0VPIGBUd5KIAg87UpbgBAAA=")!)

    @Test(
        "what came encoded to one request doesn't answer those to which it comes decoded",
        arguments: [["Accept-Encoding": "gzip"], ["Range": "bytes=0-1"]] as [HTTPHeaders], [false, true])
    func encoded(first: HTTPHeaders, isVarying: Bool) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "ETag": "W/\"x\""]
            if isVarying { headers["Vary"] = "Accept-Encoding" }
            guard request.headers["If-None-Match"] == nil else { return .init(status: 304, headers: headers) }
            return .init(headers: headers, body: .bytes(Self.gzip))
        }
        let client = client(CacheInterceptor())
        _ = try await client.send(HTTPRequest(server.url("/x"), headers: first))
        for _ in 0..<2 { #expect(try await client.send(HTTPRequest(server.url("/x"))).body.text == Self.plain) }
    }

    @Test("a download of what comes encoded is decoded, though it was stored as it came")
    func encodedDownload() async throws {
        let (server, folder) = (try MockServer(), try TemporaryFolder())
        defer { server.shutdown() }
        server.respond { _ in
            .init(
                headers: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "ETag": "\"x\""], body: .bytes(Self.gzip))
        }
        let client = client(CacheInterceptor())
        _ = try await client.send(HTTPRequest(server.url("/x"), headers: ["Accept-Encoding": "identity"]))
        let file = folder.url.appendingPathComponent("file")
        _ = try await client.download(HTTPRequest(server.url("/x")), to: file)
        #expect(try Data(contentsOf: file) == Data(Self.plain.utf8))
    }

    @Test("a server that closes the connection is answered for by what is stale, if it lets it")
    func closing() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let clock = WallClock()
        server.enqueue(.init(headers: ["Cache-Control": "max-age=2, stale-if-error=60"], body: "hello"))
        let client = client(CacheInterceptor(options: options(clock)))
        _ = try await client.send(HTTPRequest(server.url("/x")))
        clock.advance(10)
        for _ in 0..<3 { server.enqueue(.init(fault: .disconnect(.beforeHead))) }
        #expect(try await client.send(HTTPRequest(server.url("/x"))).body.text == "hello")
    }

    @Test("the stale answer comes while the server stalls, then one validation, whose result is served")
    func staleWhileRevalidate() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let gate = Gate()
        server.respond { request in
            guard request.headers["If-None-Match"] == "\"a\"" else {
                return .init(headers: ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"a\""], body: "one")
            }
            await gate.wait()
            return .init(headers: ["Cache-Control": "max-age=600", "ETag": "\"b\""], body: "two")
        }
        let clock = WallClock()
        let cache = CacheInterceptor(options: options(clock))
        let client = client(cache)
        let request = HTTPRequest(server.url("/x"))
        _ = try await client.send(request)
        clock.advance(20)
        for _ in 0..<5 { #expect(try await client.send(request).body.text == "one") }
        await gate.reached()
        #expect(server.requestCount == 2)
        gate.open()
        await eventually { cache.statistics.stored == 2 }
        #expect(try await client.send(request).body.text == "two")
        #expect(server.requestCount == 2)
    }

    @Test("a validation that its caller cancels leaves the entry as it was")
    func cancelledValidation() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let gate = Gate()
        server.respond { request in
            guard request.headers["If-None-Match"] == "\"a\"" else {
                return .init(headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""], body: "one")
            }
            await gate.wait()
            return .init(status: 304, headers: ["Cache-Control": "max-age=600", "ETag": "\"a\""])
        }
        let clock = WallClock()
        let client = client(CacheInterceptor(options: options(clock)))
        let request = HTTPRequest(server.url("/x"))
        _ = try await client.send(request)
        clock.advance(20)
        let validation = Task { try await client.send(request) }
        await gate.reached()
        validation.cancel()
        await #expect(throws: CancellationError.self) { try await validation.value }
        gate.open()
        let response = try await client.send(request)
        #expect(response.body.text == "one" && response.cacheStatus?.forwardStatus == .notModified)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", "\"a\""])
        #expect(try await client.send(request).cacheStatus?.isHit == true)
    }

    @Test("each hop of a redirect chain is answered by its own rule")
    func redirects() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            switch request.path {
            case "/1": .init(status: 301, headers: ["Location": "/2", "Cache-Control": "max-age=600"])
            case "/2": .init(status: 302, headers: ["Location": "/3"])
            default: .init(headers: ["Cache-Control": "max-age=10"], body: "end")
            }
        }
        let clock = WallClock()
        let client = client(CacheInterceptor(options: options(clock)))
        for _ in 0..<3 {
            #expect(try await client.send(HTTPRequest(server.url("/1"))).body.text == "end")
            clock.advance(6)
        }
        #expect(server.requests.map(\.path) == ["/1", "/2", "/3", "/2", "/2", "/3"])
    }

    private func options(_ clock: WallClock) -> CacheOptions {
        var options = CacheOptions()
        options.now = { clock.now }
        return options
    }
}
