import Foundation
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ResponseTests {
    private let transport = urlSessionTransport()

    @Test func bufferedAndStreamedBodiesAreTheSame() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello")
        let request = HTTPRequest(server.url)
        let streamed = try await transport.deliver(request)
        #expect(streamed.body.length == 5)
        #expect(try await streamed.text() == "hello")
        #expect(streamed.metrics?.total != nil)
        let buffered = try await transport.deliver(request.buffered())
        #expect(buffered.body.bytes == Array("hello".utf8))
        #expect(buffered.headers["X-A"] == "1, 2")
        #expect(buffered.metrics?.firstByte != nil)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreResponses(status: Int) async throws {
        let server = try RawServer.answering("HTTP/1.1 \(status) X\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nmoved")
        let response = try await transport.deliver(HTTPRequest(server.url))
        #expect(response.status.code == status)
        #expect(response.headers[.location] == "/x")
        #expect(try await response.text() == "moved")
    }

    @Test(arguments: ["", "Location: //[\r\n"]) func aRedirectToNowhereIsAResponse(field: String) async throws {
        let server = try RawServer.answering("HTTP/1.1 302 Found\r\n\(field)Content-Length: 0\r\n\r\n")
        for request in [HTTPRequest(server.url), HTTPRequest(server.url).buffered()] {
            #expect(try await transport.deliver(request).status == 302)
        }
    }

    @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Bearer error=\"x\"", "Nonsense realm=x"])
    func unauthorizedIsAResponse(challenge: String) async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 2\r\n\r\nno")
        for request in [HTTPRequest(server.url), HTTPRequest(server.url).buffered()] {
            let response = try await transport.deliver(request)
            #expect(response.status == 401)
            #expect(response.headers[.wwwAuthenticate] == challenge)
            #expect(try await response.text() == "no")
        }
    }

    @Test func interimResponsesArePassedOver() async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let response = try await transport.deliver(HTTPRequest(server.url))
        #expect(response.status == 200)
        #expect(response.headers["Link"] == nil)
        #expect(try await response.text() == "ok")
    }

    @Test(arguments: ["204 No Content", "304 Not Modified"]) func statusesWithoutBodyEnd(status: String) async throws {
        let server = try RawServer.answering("HTTP/1.1 \(status)\r\nETag: \"x\"\r\n\r\n")
        for request in [HTTPRequest(server.url), HTTPRequest(server.url).buffered()] {
            let response = try await transport.deliver(request)
            #expect(response.body.length == 0)
            #expect(try await response.text() == "")
        }
    }

    @Test func headHasNoBodyThoughALength() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        let response = try await transport.deliver(HTTPRequest(.head, server.url))
        #expect(response.headers[.contentLength] == "1000")
        #expect(response.body.length == 0)
        #expect(try await response.text() == "")
        #expect(try await transport.deliver(HTTPRequest(.head, server.url).buffered(upTo: 10)).body.bytes == [])
    }

    @Test func emptyBodyEnds() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(try await transport.deliver(HTTPRequest(server.url)).text() == "")
    }

    @Test func setCookiesAreKeptApart() async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nSet-Cookie: c=d, e\r\nContent-Length: 0\r\n\r\n"
        )
        let response = try await transport.deliver(HTTPRequest(server.url))
        #expect(response.headers.values(.setCookie) == ["a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "c=d, e"])
        let next = try RawServer.echoing()
        #expect(try await !transport.deliver(HTTPRequest(next.url)).text().lowercased().contains("cookie"))
    }

    @Test func theConfigurationsCookiesAreLeftAlone() async throws {
        let server = try RawServer.echoing()
        let configuration = URLSessionConfiguration.ephemeral
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "kept", .value: "1", .domain: "127.0.0.1", .path: "/"]
        configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
        configuration.httpShouldSetCookies = true
        configuration.httpCookieAcceptPolicy = .always
        let own = urlSessionTransport(configuration: configuration)
        #expect(try await !own.send(HTTPRequest(server.url)).text().lowercased().contains("cookie"))
    }

    @Test(arguments: [
        ("a=b", ["a=b"]), ("a=b, c=d", ["a=b", "c=d"]), ("", [""]), ("a=b,c=d", ["a=b", "c=d"]),
        ("a=1, 2, b=3", ["a=1, 2", "b=3"]),
        ("a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, c=", ["a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "c="]),
    ]) func cookieListsAreCut(joined: String, cookies: [String]) {
        #expect(SetCookieList.split(joined) == cookies)
    }

    @Test func gzipIsDecodedAndTheHeadSaysSo() async throws {
        let packed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 64, 144, 0, 128, 136, 249, 229, 17, 0, 0, 0,
        ]
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                #expect(request.lowercased().contains("gzip"))
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
                connection.write(packed)
            }
        }
        let response = try await transport.deliver(HTTPRequest(server.url))
        #expect(try await response.text() == "hello hello hello")
        #expect(response.headers[.contentEncoding] == nil)
        #expect(response.headers[.contentLength] == nil)
        #expect(response.body.length == nil)
        let buffered = try await transport.deliver(HTTPRequest(server.url).buffered())
        #expect(response.isDecodedUnseen && buffered.isDecodedUnseen)
    }

    @Test(arguments: [
        ("", false), (" , ", false), ("identity", false), ("utf-8", false), ("gzip, utf-8", false), ("gzip", true),
        ("identity, GZIP", true),
    ]) func onlyWhatNamesACodingIsDecoded(encoding: String, isDecoded: Bool) throws {
        let request = HTTPRequest("http://127.0.0.1/")
        let response = try #require(
            HTTPURLResponse(
                url: request.url, statusCode: 200, httpVersion: "HTTP/1.1",
                headerFields: ["Content-Encoding": encoding, "Content-Length": "5"]))
        let head = ResponseHead(response, for: request)
        #expect(head.isDecoded == isDecoded)
        #expect(head.headers.contains(.contentLength) == !isDecoded)
        #expect(head.bodyLength == (isDecoded ? nil : 5))
    }

    @Test func partsWithHeadsOfTheirOwnArentJoined() async throws {
        let request = HTTPRequest("http://127.0.0.1/")
        let limits = BodyLimits(memory: 1 << 10, spool: 1 << 10)
        let exchange = Exchange(request, .streamed, try OutgoingRequest(request), limits: limits)
        let head = try #require(
            HTTPURLResponse(
                url: request.url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "image/jpeg"]))
        for byte in [1, 2] as [UInt8] {
            exchange.receive(head: head)
            exchange.receive(Data([byte]))
        }
        exchange.complete(nil, head: nil)
        let response = try await exchange.response { _ in }
        #expect(await httpError { try await response.body.collect() }?.code == .unsupported)
    }

    private static func exchange(_ delivery: BodyDelivery) throws -> Exchange {
        let request = HTTPRequest("https://h.invalid/")
        let limits = BodyLimits(memory: 1 << 10, spool: 1 << 10)
        return Exchange(request, delivery, try OutgoingRequest(request), limits: limits, isBehindProxy: true)
    }

    private static func head(_ status: Int) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "https://h.invalid/"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: ["X-A": "\(status)"]))
    }

    /// FoundationNetworking tells of the head by which a proxy opens a tunnel.
    @Test(arguments: [BodyDelivery.streamed, .buffered(upTo: 10)])
    func theHeadOfATunnelIsNoAnswer(_ delivery: BodyDelivery) async throws {
        let exchange = try Self.exchange(delivery)
        exchange.receive(head: try Self.head(200))
        exchange.receive(head: try Self.head(404))
        exchange.receive(Data("no".utf8))
        exchange.complete(nil, head: nil)
        let response = try await exchange.response { _ in }
        #expect(response.status == 404)
        #expect(response.headers["X-A"] == "404")
        #expect(try await response.text() == "no")
    }

    @Test func aFailureBehindATunnelIsNoAnswer() async throws {
        let exchange = try Self.exchange(.streamed)
        exchange.receive(head: try Self.head(200))
        exchange.complete(URLError(.secureConnectionFailed), head: try Self.head(200))
        let error = await httpError { try await exchange.response { _ in } }
        #expect(error?.code == .tls)
        #expect(error?.phase == .notSent)
    }

    /// The tunnel was opened for a request before.
    @Test func theOnlyHeadBehindATunnelIsTheServers() async throws {
        for delivery in [BodyDelivery.streamed, .buffered(upTo: 10)] {
            let exchange = try Self.exchange(delivery)
            exchange.receive(head: try Self.head(404))
            exchange.complete(nil, head: nil)
            let response = try await exchange.response { _ in }
            #expect(response.status == 404)
            #expect(try await response.text() == "")
        }
        let exchange = try Self.exchange(.streamed)
        exchange.receive(head: try Self.head(404))
        exchange.receive(Data("no".utf8))
        let response = try await exchange.response { _ in }
        exchange.complete(nil, head: nil)
        #expect(response.status == 404)
        #expect(try await response.text() == "no")
    }

    @Test func aBodyPastTheLimitIsRefused() async throws {
        let announced = try RawServer.answering(
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\n")
        let error = await httpError { try await transport.deliver(HTTPRequest(announced.url).buffered(upTo: 99)) }
        #expect(error?.code == .bodyTooLarge)
        let chunked = try RawServer.answering(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n")
        let long = HTTPRequest(chunked.url).buffered(upTo: 9)
        #expect(await httpError { try await transport.deliver(long) }?.code == .bodyTooLarge)
        #expect(try await transport.deliver(HTTPRequest(chunked.url).buffered(upTo: 10)).data.count == 10)
    }

    @Test func aReaderThatIsBehindMissesNothing() async throws {
        let content = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let sent = Gate()
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
            connection.write(Array(content[..<4096]))
            sent.open()
            connection.write(Array(content[4096...]))
        }
        let response = try await urlSessionTransport(bufferLimit: 1).send(HTTPRequest(server.url))
        await sent.wait()
        #expect(try await response.body.collect() == content)
    }

    #if canImport(FoundationNetworking)
        @Test func anEndlessBodyThatNobodyReadsIsGivenUp() async throws {
            let isGivenUp = Gate()
            let server = try RawServer { connection in
                _ = connection.readRequest()
                connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                let piece = [UInt8](repeating: 7, count: 64 << 10)
                while connection.write(piece) {}
                isGivenUp.open()
            }
            let transport = urlSessionTransport(bufferLimit: 1 << 10, spoolLimit: 1 << 20)
            let response = try await transport.deliver(HTTPRequest(server.url))
            await isGivenUp.wait()
            let error = await httpError { try await response.body.collect() }
            #expect(error?.code == .bodyTooLarge)
            #expect(error?.phase == .answered)
        }
    #endif

    @Test func aConnectionServesTheNextRequest() async throws {
        let server = try RawServer.echoing()
        for _ in 1...5 { _ = try await transport.deliver(HTTPRequest(server.url)).text() }
        #expect(server.connectionCount == 1)
        for _ in 1...5 { _ = try await transport.deliver(HTTPRequest(server.url).buffered()) }
        #expect(server.connectionCount <= 2)
    }
}
