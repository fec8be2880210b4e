import Foundation
import MidstreamCore
import TestSupport
import Testing

/// What both transports do with a real server.
@Suite(.leavesNothing, .enabled(if: Nginx.isRunning), .timeLimit(.minutes(10))) struct NginxTests {
    private let origin = Nginx.http ?? ""

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func filesArriveUnchanged(transport: TransportUnderTest, delivery: Delivery) async throws {
        let client = transport.client()
        for path in ["/hello", "/1k", "/10m"] {
            let received = try await delivery.send(HTTPRequest(origin + path), by: client)
            #expect(received.status == .ok)
            #expect(received.bytes == (try Nginx.file(path)))
            #expect(received.headers[.contentLength] == "\(received.bytes.count)")
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aCompressedPageIsDecoded(transport: TransportUnderTest, delivery: Delivery) async throws {
        let received = try await delivery.send(HTTPRequest(origin + "/page"), by: transport.client())
        #expect(received.bytes == (try Nginx.file("/page")))
        #expect(!received.headers.contains(.contentEncoding))
        #expect(received.headers[.contentType] == "text/html")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whatIsStoredComesBackAndCanBeDeleted(transport: TransportUnderTest) async throws {
        let client = transport.client()
        let bytes = noise(3 << 20)
        let bodies: [HTTPBody] = [.bytes(bytes), .stream { bytes.pieces(of: 50_000).asynchronous() }]
        for body in bodies {
            let url = "\(origin)/put/\(UUID().uuidString)/file"
            #expect(try await client.send(HTTPRequest(.put, url, body: body)).status == 201)
            #expect(try await client.send(HTTPRequest(url)).body.bytes == bytes)
            #expect(try await client.send(HTTPRequest(.delete, url)).status == 204)
            #expect(try await client.send(HTTPRequest(url)).status == 404)
        }
    }

    @Test(arguments: TransportUnderTest.allCases) func bodiesAreCounted(transport: TransportUnderTest) async throws {
        let client = transport.client()
        for count in [0, 1, 100_000, 10 << 20] {
            let response = try await client.send(HTTPRequest(.post, origin + "/length", body: .bytes(noise(count))))
            #expect(response.body.bytes.map { Int(String(decoding: $0, as: UTF8.self).dropLast()) ?? 0 } == count)
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aBodyThatIsTooLargeIsRefusedAtOnce(transport: TransportUnderTest, delivery: Delivery) async throws {
        let client = transport.client()
        let bytes = noise(10 << 20)
        for body in [HTTPBody.bytes(bytes), .stream { bytes.pieces(of: 50_000).asynchronous() }] {
            let received = try await delivery.send(HTTPRequest(.post, origin + "/small-limit", body: body), by: client)
            #expect(received.status == 413)
            #expect(try await delivery.send(HTTPRequest(origin + "/hello"), by: client).text == "hello\n")
        }
    }

    @Test(arguments: TransportUnderTest.allCases, [204, 404, 500])
    func aStatusArrives(transport: TransportUnderTest, code: Int) async throws {
        #expect(try await transport.client().send(HTTPRequest("\(raw: origin)/status/\(code)")).status.code == code)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theClientFollowsRedirects(transport: TransportUnderTest) async throws {
        let client = transport.client { $0.redirects = .follow() }
        let response = try await client.send(HTTPRequest(origin + "/redirect"))
        #expect(response.body.bytes == [UInt8]("hello\n"))
        #expect(response.url.path == "/hello")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func oneConnectionServesAll(transport: TransportUnderTest) async throws {
        let client = transport.client()
        let mark = UUID().uuidString
        for _ in 1...10 { _ = try await client.send(HTTPRequest("\(raw: origin)/hello?\(mark)")) }
        let lines = try await Nginx.logLines(with: mark, count: 10)
        #expect(Set(lines.map { $0[0] }).count == 1)
        #expect(lines.allSatisfy { $0[2] == "HTTP/1.1" })
    }

    @Test(arguments: TransportUnderTest.allCases)
    func anUnknownAuthorityIsNotTrusted(transport: TransportUnderTest) async throws {
        let https = try #require(Nginx.https)
        let client = transport.client()
        for delivery in Delivery.allCases {
            await expectError(.tls, .notSent) { try await delivery.send(HTTPRequest(https + "/hello"), by: client) }
        }
    }
}
