import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct EncodingTests {
    private static let encodings = ["gzip", "deflate", "br", "zstd"]

    private func response(_ encoding: String, _ bytes: [UInt8]) -> MockServer.Response {
        .init(headers: ["Content-Encoding": encoding, "X-Other": "stays"], body: .bytes(bytes))
    }

    /// RFC 9110 §12.5.3: a transport takes off what it has asked for.
    @Test(arguments: TransportUnderTest.allCases, encodings)
    func anEncodingThatIsAskedForIsTakenOff(transport: TransportUnderTest, encoding: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in response(encoding, EncodedBytes.of(encoding)) }
        let client = transport.client()
        for delivery in Delivery.allCases {
            let received = try await delivery.send(HTTPRequest(server.url()), by: client)
            let asked = try #require(try await server.takeRequest().headers[.acceptEncoding])
            if encoding == "gzip" { #expect(asked.contains(encoding)) }
            guard asked.contains(encoding) else { try Test.cancel("\(encoding) isn't asked for.") }
            #expect(received.text == EncodedBytes.plain)
            #expect(!received.headers.contains(.contentEncoding), "It is true of what was sent, not of what is handed on.")
            #expect(!received.headers.contains(.contentLength))
            #expect(received.response.body.length == nil || received.response.body.length == Int64(received.bytes.count))
            #expect(received.headers["X-Other"] == "stays")
        }
    }

    @Test(arguments: TransportUnderTest.allCases, encodings)
    func anEncodingThatTheRequestAskedForItselfIsLeft(transport: TransportUnderTest, encoding: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in response(encoding, EncodedBytes.of(encoding)) }
        let client = transport.client()
        try await needing(.ownAcceptEncoding, of: transport) {
            for delivery in Delivery.allCases {
                let request = HTTPRequest(server.url(), headers: ["Accept-Encoding": encoding])
                let received = try await delivery.send(request, by: client)
                #expect(try await server.takeRequest().headers.values(.acceptEncoding) == [encoding])
                #expect(received.bytes == EncodedBytes.of(encoding))
                #expect(received.headers[.contentEncoding] == encoding)
                #expect(received.headers[.contentLength] == "\(received.bytes.count)")
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases) func aRequestMayAskForNoEncoding(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "plain"))
        let request = HTTPRequest(server.url(), headers: ["Accept-Encoding": "identity"])
        let received = try await Delivery.buffered.send(request, by: transport.client())
        #expect(try await server.takeRequest().headers.values(.acceptEncoding) == ["identity"])
        #expect(received.text == "plain")
        #expect(received.headers[.contentLength] == "5")
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anEncodedBodyMayComeByteByByte(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(headers: ["Content-Encoding": "gzip"], body: .chunked(EncodedBytes.gzip.map { [$0] })))
        let received = try await delivery.send(HTTPRequest(server.url()), by: transport.client())
        #expect(received.text == EncodedBytes.plain)
    }

    @Test(arguments: TransportUnderTest.allCases, [204, 304, 200])
    func anEmptyBodyMayCallItselfEncoded(transport: TransportUnderTest, code: Int) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(status: HTTPStatus(code), headers: ["Content-Encoding": "gzip"]) }
        let client = transport.client()
        for delivery in Delivery.allCases {
            let received = try await delivery.send(HTTPRequest(server.url()), by: client)
            #expect(received.status.code == code)
            #expect(received.bytes.isEmpty)
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["gzip", "br", "zstd"])
    func whatIsNotEncodedAsItSaysIsAnError(transport: TransportUnderTest, encoding: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        var corrupt = EncodedBytes.of(encoding)
        for index in corrupt.indices.dropFirst(encoding == "br" ? 2 : 12) { corrupt[index] ^= 0xa5 }
        server.respond { [corrupt] request in
            request.path == "/noise" ? response(encoding, noise(4_000)) : response(encoding, corrupt)
        }
        let client = transport.client()
        if transport == .urlSession {
            _ = try? await client.send(HTTPRequest(server.url()))
            let asked = try await server.takeRequest().headers[.acceptEncoding]
            guard asked?.contains(encoding) == true else { try Test.cancel("The libcurl under Foundation knows no \(encoding).") }
        }
        for delivery in Delivery.allCases {
            for path in ["/noise", "/corrupt"] {
                await expectError(.decoding, .answered) { try await delivery.send(HTTPRequest(server.url(path)), by: client) }
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anEncodedBodyThatStopsTooEarlyIsAnError(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(response("gzip", Array(EncodedBytes.gzip.dropLast(12))))
        try await needing(.endOfEncodedBody, of: transport) {
            await expectError(.decoding, .answered) {
                try await delivery.send(HTTPRequest(server.url()), by: transport.client())
            }
        }
    }

    /// RFC 9110 §8.4.1: `identity` is no content coding, but some servers send it.
    @Test(arguments: TransportUnderTest.allCases)
    func identityIsNoEncoding(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(response("identity", [UInt8]("plain")))
        #expect(try await transport.client().send(HTTPRequest(server.url())).body.bytes == [UInt8]("plain"))
    }
}
