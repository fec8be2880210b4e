import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct StatusTests {
    @Test(
        arguments: TransportUnderTest.allCases,
        [200, 201, 202, 203, 206, 226, 299, 300, 400, 402, 403, 404, 409, 410, 413, 418, 429, 499, 500, 501, 502, 503, 504, 599])
    func aStatusComesWithItsBody(transport: TransportUnderTest, code: Int) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: HTTPStatus(code), body: "answer"))
        let received = try await Delivery.buffered.send(HTTPRequest(server.url()), by: transport.client())
        #expect(received.status.code == code)
        #expect(received.text == "answer")
    }

    /// RFC 9112 §6.3, rule 1: whatever the fields say.
    @Test(arguments: TransportUnderTest.allCases, [(204, nil), (204, "17"), (304, nil), (304, "17"), (205, "0")])
    func aStatusWithoutBodyEndsWithItsHead(transport: TransportUnderTest, status: (code: Int, length: String?)) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        var headers: HTTPHeaders = ["ETag": "\"1\""]
        headers[.contentLength] = status.length
        server.respond { [headers] _ in .init(status: HTTPStatus(status.code), headers: headers) }
        let client = transport.client()
        for delivery in Delivery.allCases {
            let received = try await delivery.send(HTTPRequest(server.url()), by: client)
            #expect(received.status.code == status.code)
            #expect(received.bytes.isEmpty)
            #expect(received.headers[.etag] == "\"1\"")
            if status.code == 304 { #expect(received.headers[.contentLength] == status.length) }
        }
        #expect(server.connectionCount == 1, "The next answer is found on the same connection.")
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func theAnswerToAHeadTellsALengthAndHasNoBody(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(body: .pattern(length: 12_345_678)),
            .init(headers: ["Content-Encoding": "gzip", "Content-Length": "99"], body: .bytes([UInt8](repeating: 0, count: 99))),
            .init(headers: ["Transfer-Encoding": "chunked"], body: "body"), .init(body: "next"))
        let client = transport.client()
        let first = try await delivery.send(HTTPRequest(.head, server.url()), by: client)
        #expect(first.headers[.contentLength] == "12345678")
        #expect(first.bytes.isEmpty)
        let encoded = try await delivery.send(HTTPRequest(.head, server.url()), by: client)
        #expect(encoded.headers[.contentEncoding] == "gzip", "Nothing was decoded, so the head stays as it is.")
        #expect(encoded.headers[.contentLength] == "99")
        #expect(try await delivery.send(HTTPRequest(.head, server.url()), by: client).bytes.isEmpty)
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "next")
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: TransportUnderTest.allCases, ["", "OK", "Très bien", "It's fine, really: 100%"])
    func theReasonPhraseIsOfNoImportance(transport: TransportUnderTest, reason: String) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "answer", reason: reason))
        let response = try await transport.client().send(HTTPRequest(server.url()))
        #expect(response.status == .ok)
        #expect(response.body.bytes == [UInt8]("answer"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aStatusLineMayEndWithItsCode(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(fault: .garbage([UInt8]("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi"))))
        try await needing(.statusLineWithoutReason, of: transport) {
            let response = try await transport.client().send(HTTPRequest(server.url()))
            #expect(response.status == .ok)
            #expect(response.body.bytes == [UInt8]("hi"))
        }
    }

    @Test(arguments: TransportUnderTest.allCases, [301, 302, 303, 307, 308])
    func redirectsAreNotFollowed(transport: TransportUnderTest, code: Int) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        for location in [server.url("/elsewhere"), "/elsewhere", "http://[", ""] {
            server.enqueue(.init(status: HTTPStatus(code), headers: ["Location": location], body: "moved"))
            let received = try await Delivery.buffered.send(
                HTTPRequest(.post, server.url(), body: .text("x")), by: transport.client())
            #expect(received.status.code == code)
            #expect(received.headers[.location] == location)
            try await needing(.bodyOfRedirect, of: transport) { #expect(received.text == "moved") }
        }
        #expect(server.requestCount == 4)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func demandsForCredentialsAreAnswersLikeOthers(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        for (code, field) in [(401, HTTPHeaders.Name.wwwAuthenticate), (407, .proxyAuthenticate)] {
            for challenge in ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Negotiate", "Bearer"] {
                server.enqueue(.init(status: HTTPStatus(code), headers: [field: challenge], body: "who are you?"))
                let received = try await delivery.send(HTTPRequest(server.url()), by: client)
                #expect(received.status.code == code)
                #expect(received.headers[field] == challenge)
                #expect(received.text == "who are you?")
            }
        }
        #expect(server.requestCount == 8, "Nothing is sent again with credentials of the transport's own.")
    }

    /// RFC 9110 §15.2.
    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func interimResponsesArePassedOver(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let hints = MockServer.Interim.earlyHints(links: ["</a.css>; rel=preload", "</b.js>; rel=preload"])
        let combinations: [[MockServer.Interim]] = [
            [hints], [.continue], [.init(status: 102)], [.continue, .init(status: 102), hints, hints, .init(status: 199)],
        ]
        let client = transport.client()
        for interim in combinations {
            server.enqueue(.init(status: 203, headers: ["X-Final": "yes"], body: "final", interim: interim))
            let received = try await delivery.send(HTTPRequest(server.url()), by: client)
            #expect(received.status == 203)
            #expect(received.text == "final")
            #expect(received.headers["X-Final"] == "yes")
            #expect(!received.headers.contains(.link), "A field of an interim response isn't one of the final.")
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func aServerMaySpeakHTTP10(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(body: "with a length", version: .http1_0),
            .init(body: .bytes([UInt8]("until the end")), closeDelimited: true, version: .http1_0),
            .init(headers: ["Connection": "keep-alive"], body: "kept", version: .http1_0), .init(body: "after"))
        let client = transport.client()
        let first = try await delivery.send(HTTPRequest(server.url()), by: client)
        #expect(first.text == "with a length")
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "until the end")
        #expect(server.connectionCount == 2)
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "kept")
        #expect(try await delivery.send(HTTPRequest(server.url()), by: client).text == "after")
        try await needing(.versionOfResponses, of: transport) { #expect(first.response.version == .http1_0) }
    }
}
