import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct TargetTests {
    @Test(
        arguments: TransportUnderTest.allCases,
        [
            ("/", "/"), ("", "/"), ("/a/b/", "/a/b/"), ("/a%20b%2Fc%3f", "/a%20b%2Fc%3f"), ("/%C3%A9", "/%C3%A9"),
            ("/a//b", "/a//b"), ("/a;b=c,d", "/a;b=c,d"), ("/~a_b-c.d!$&'()*+:@", "/~a_b-c.d!$&'()*+:@"),
            ("/?a=b+c&d=%26&e&f=&a=2", "/?a=b+c&d=%26&e&f=&a=2"), ("/?", "/?"), ("/?q=/?:@", "/?q=/?:@"),
            ("/a#fragment", "/a"), ("/a?b#fragment", "/a?b"), ("?a=b", "/?a=b"), ("/[a]?b[]=1", "/%5Ba%5D?b%5B%5D=1"),
        ])
    func theTargetArrivesAsItIs(transport: TransportUnderTest, target: (given: String, sent: String)) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let origin = "http://127.0.0.1:\(server.port)"
        _ = try await transport.client().send(HTTPRequest(origin + target.given))
        #expect(try await server.takeRequest().target == target.sent)
    }

    @Test(arguments: TransportUnderTest.allCases) func aLongTargetArrives(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let query = String(repeating: "0123456789", count: 3_000)
        _ = try await transport.client().send(HTTPRequest(server.url("/?q=\(query)")))
        #expect(try await server.takeRequest().query("q") == query)
    }

    /// RFC 9112 §3.2.
    @Test(arguments: TransportUnderTest.allCases)
    func hostIsTheAuthorityOfTheURL(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        for host in ["127.0.0.1", "localhost"] {
            _ = try await client.send(HTTPRequest(server.url(host: host)))
            let request = try await server.takeRequest()
            #expect(request.headers.values(.host) == ["\(host):\(server.port)"])
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aHostFieldOfTheRequestReplacesIt(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        _ = try await transport.client().send(HTTPRequest(server.url(), headers: ["Host": "other.example"]))
        #expect(try await server.takeRequest().headers.values(.host) == ["other.example"])
    }

    @Test(arguments: TransportUnderTest.allCases) func anIPv6AddressIsReached(transport: TransportUnderTest) async throws {
        guard let server = try? MockServer(family: .ipv6) else { try Test.cancel("There is no IPv6 here.") }
        defer { server.shutdown() }
        server.enqueue(.init())
        try await needing(.ipv6Addresses, of: transport) {
            _ = try await transport.client().send(HTTPRequest(server.url()))
            #expect(try await server.takeRequest().headers[.host] == "[::1]:\(server.port)")
        }
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        ["", "/relative", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http:///x", "http://h:port/", "mailto:a@b"])
    func whatIsNoURLToRequestIsRefused(transport: TransportUnderTest, url: String) async throws {
        let transport = transport.make()
        await expectError(.invalidRequest, .notSent) { try await transport.send(HTTPRequest(url)) }
    }

    @Test(arguments: TransportUnderTest.allCases, ["/ x", "/\r\nX-Injected: yes", "/\n", "/\u{0}", "/\t"])
    func aURLDoesNotReachIntoTheHead(transport: TransportUnderTest, path: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let transport = transport.make()
        await expectError(.invalidRequest, .notSent) {
            try await transport.send(HTTPRequest("http://127.0.0.1:\(server.port)\(raw: path)"))
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func credentialsInAURLStayWithTheCaller(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let transport = transport.make()
        _ = try await transport.send(HTTPRequest("http://user:secret@127.0.0.1:\(server.port)/"))
        let request = try await server.takeRequest()
        #expect(!request.headers.contains(.authorization), "Credentials are the client's business.")
        #expect(request.headers[.host] == "127.0.0.1:\(server.port)")
    }
}
