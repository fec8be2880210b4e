import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// A server may answer before it has the whole request (RFC 9112 §9.3).
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct EarlyResponseTests {
    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anAnswerDuringTheUploadIsDelivered(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        let bytes = noise(10 << 20)
        let bodies: [HTTPBody] = [
            .bytes(bytes), .stream(length: Int64(bytes.count)) { bytes.pieces(of: 65_536).asynchronous() },
            .stream { bytes.pieces(of: 65_536).asynchronous() },
        ]
        for body in bodies {
            server.enqueue(.init(status: 413, body: "too large", early: true), .init(body: "next"))
            let received = try await delivery.send(HTTPRequest(.put, server.url(), body: body), by: client)
            #expect(received.status == 413)
            #expect(received.text == "too large")
            #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anAnswerAfterWhichTheServerClosesIsDelivered(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 413, headers: ["Connection": "close"], body: "too large", early: true), .init(body: "next"))
        let client = transport.client()
        let request = HTTPRequest(.put, server.url(), body: .bytes(noise(10 << 20)))
        let received = try await delivery.send(request, by: client)
        #expect(received.status == 413)
        #expect(received.text == "too large")
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func anAnswerEndsAnUploadThatNeverEnds(transport: TransportUnderTest, delivery: Delivery) async throws {
        try await expectEnd(of: transport, delivery, status: 200, "Content-Length: 9\r\n\r\ntoo large")
        try await expectEnd(of: transport, delivery, status: 413, "Content-Length: 9\r\n\r\ntoo large")
        try await expectEnd(of: transport, delivery, status: 413, "Transfer-Encoding: chunked\r\n\r\n9\r\ntoo large\r\n0\r\n\r\n")
    }

    private func expectEnd(of transport: TransportUnderTest, _ delivery: Delivery, status: Int, _ rest: String) async throws {
        let server = try SilentServer()
        try await needing(.uploadWhileItIsMade, of: transport) {
            let standstill = Standstill()
            let body = standstill.body(after: [[UInt8]("first")])
            let client = transport.client()
            async let answer = delivery.send(HTTPRequest(.put, server.url, body: body), by: client)
            let connection = await server.accepted()
            #expect(await connection.receives("first"))
            // Otherwise whoever reads the body may see that it is over before it asks for more, which nobody would notice here.
            await standstill.reached.wait()
            connection.write("HTTP/1.1 \(status) Early\r\n\(rest)")
            let received = try await answer
            #expect(received.status.code == status)
            #expect(received.text == "too large")
            await standstill.clientLeft.wait()
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func anExpectationMayBeRefused(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: 417, body: "no", early: true), .init(body: "next"))
        let client = transport.client()
        let request = HTTPRequest(.put, server.url(), headers: ["Expect": "100-continue"], body: .bytes(noise(4 << 20)))
        let response = try await client.send(request)
        #expect(response.status == 417)
        #expect(response.body.bytes == [UInt8]("no"))
        #expect(try await client.send(HTTPRequest(server.url())).body.bytes == [UInt8]("next"))
    }
}
