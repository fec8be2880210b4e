import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// The same over real sockets.
@Suite("Cookies on a real server", .leavesNothing, .timeLimit(.minutes(10)))
struct CookieSocketTests {
    private func cookies(_ server: MockServer) -> [String?] { server.requests.map { $0.headers[.cookie] } }

    private func client(_ server: MockServer, _ jar: CookieJar) -> HTTPClient {
        testClient(baseURL: server.url(), transport: platformTransport()) { CookieInterceptor(jar) }
    }

    @Test("a login with a redirect, a visit and a logout")
    func session() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            switch request.path {
            case "/login":
                var headers: HTTPHeaders = ["Location": "/home", "Set-Cookie": "sid=1; Path=/; HttpOnly; Secure"]
                headers.add(.setCookie, "login=1; Path=/login; Expires=Fri, 31-Dec-60 23:59:59 GMT")
                headers.add(.setCookie, "evil=1; Domain=example.com")
                return .init(status: .seeOther, headers: headers)
            case "/logout": return .init(headers: ["Set-Cookie": "sid=; Path=/; Max-Age=0"])
            default:
                let isIn = request.headers[.cookie]?.contains("sid=1") == true
                return .init(status: isIn ? .ok : .unauthorized, headers: ["Set-Cookie": "seen=\"a, b\""])
            }
        }
        let jar = CookieJar()
        let client = client(server, jar)
        #expect(try await client.send(HTTPRequest(.post, "/login", body: .text("x"))).status == .ok)
        #expect(try await client.send(HTTPRequest("/login/again")).status == .ok)
        #expect(try await client.send(HTTPRequest("/logout")).status == .ok)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("/home")) }
        #expect(error?.response?.status == .unauthorized)
        #expect(
            cookies(server) == [
                nil, "sid=1", "login=1; sid=1; seen=\"a, b\"", "sid=1; seen=\"a, b\"", "seen=\"a, b\"",
            ])
        #expect(jar.cookies.allSatisfy { $0.domain == "127.0.0.1" && $0.isHostOnly })
    }

    @Test("a redirect to another host takes nothing along and brings nothing back")
    func otherHost() async throws {
        let server = try MockServer()
        let other = try MockServer()
        defer { server.shutdown() }
        defer { other.shutdown() }
        server.enqueue(.init(status: .temporaryRedirect, headers: [.location: other.url("/", host: "localhost")]), .init())
        other.respond { _ in .init(headers: ["Set-Cookie": "there=1"]) }
        let jar = CookieJar([try Cookie("sid", "1", domain: "127.0.0.1")])
        let client = client(server, jar)
        _ = try await client.send(HTTPRequest("/", headers: ["Cookie": "own=1"]))
        _ = try await client.send(HTTPRequest("/"))
        _ = try await client.send(HTTPRequest(other.url("/", host: "localhost")))
        #expect(cookies(server) == ["own=1; sid=1", "sid=1"])
        #expect(cookies(other) == [nil, "there=1"])
    }

    @Test("a streamed response sets its cookies with its head")
    func streamed() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let (chunks, feed) = AsyncStream<[UInt8]>.makeStream()
        defer { feed.finish() }
        feed.yield([1])
        server.enqueue(.init(headers: ["Set-Cookie": "a=1"], body: .once(chunks)))
        let jar = CookieJar()
        let response = try await client(server, jar).stream(HTTPRequest("/"))
        #expect(jar.cookies.map(\.name) == ["a"])
        response.body.close()
    }

    @Test("two hundred calls at once")
    func concurrency() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { .init(headers: ["Set-Cookie": "c\($0.path.dropFirst())=1; Path=/"]) }
        let jar = CookieJar()
        let client = client(server, jar)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try await client.send(HTTPRequest("/\(number % 20)")) } }
            try await group.waitForAll()
        }
        _ = try await client.send(HTTPRequest("/last"))
        let last = try #require(server.requests.last?.headers[.cookie])
        #expect(Set(last.components(separatedBy: "; ")) == Set((0..<20).map { "c\($0)=1" }))
    }
}
