import Foundation
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FailureTests {
    private let transport = urlSessionTransport()

    @Test func aRefusedConnectionWasNotSent() async throws {
        let error = await httpError { try await transport.deliver(HTTPRequest("http://127.0.0.1:1/?token=secret")) }
        #expect(error?.code == .connection)
        #expect(error?.phase == .notSent)
        #expect(error?.underlying is URLError)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func noAnswerMayHaveBeenProcessed() async throws {
        let server = try RawServer.answeringOnce("")
        for request in [HTTPRequest(server.url), HTTPRequest(server.url).buffered()] {
            let error = await httpError { try await transport.deliver(request) }
            #expect(error?.code == .connectionLost)
            #expect(error?.phase == .maybeProcessed)
        }
    }

    @Test func whatIsNoHTTPIsAViolation() async throws {
        let server = try RawServer.answeringOnce("garbage\r\n\r\n")
        #expect(await httpError { try await transport.deliver(HTTPRequest(server.url)) }?.code == .protocolViolation)
    }

    @Test(arguments: ["Content-Length: 20\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"])
    func aBodyCutShortIsALostConnection(rest: String) async throws {
        let server = try RawServer.answeringOnce("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\(rest)")
        let response = try await transport.deliver(HTTPRequest(server.url))
        let streamed = await httpError { try await response.text() }
        let buffered = await httpError { try await transport.deliver(HTTPRequest(server.url).buffered()) }
        for error in [streamed, buffered] {
            #expect(error?.code == .connectionLost)
            #expect(error?.phase == .answered)
        }
        #expect(await httpError { try await response.text() }?.code == .connectionLost)
    }

    @Test func aBadChunkIsAFailure() async throws {
        let server = try RawServer.answeringOnce("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n")
        let error = await httpError { try await transport.deliver(HTTPRequest(server.url).buffered()) }
        #expect(error != nil)
        #expect(error?.phase == .answered)
    }

    @Test(arguments: [
        "", "/relative", "ftp://h/", "http://", "http:///x", "http://h/ x", "http://h/\r\nX: y", "http://h:port/", "mailto:a@b",
    ])
    func aURLThatCantBeRequestedIsInvalid(url: String) async {
        let error = await httpError { try await transport.deliver(HTTPRequest(url)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.phase == .notSent)
    }

    #if canImport(FoundationNetworking)
        @Test func http3IsUnsupported() async {
            let transport = urlSessionTransport(assumesHTTP3Capable: true)
            let error = await httpError { try await transport.deliver(HTTPRequest("https://127.0.0.1:1/")) }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("assumesHTTP3Capable") == true)
        }
    #endif

    @Test func badHeadersAndMethodsAreInvalid() async {
        var request = HTTPRequest("http://127.0.0.1:1/")
        request.headers.add("X-A", "a\r\nX-B: b")
        #expect(await httpError { try await transport.deliver(request) }?.code == .invalidRequest)
        let spaced = HTTPRequest("G T", "http://127.0.0.1:1/")
        #expect(await httpError { try await transport.deliver(spaced) }?.code == .invalidRequest)
        let short = HTTPRequest(.post, "http://127.0.0.1:1/", headers: ["Content-Length": "1"], body: .text("hello"))
        #expect(await httpError { try await transport.deliver(short) }?.code == .invalidRequest)
        let coded = HTTPRequest(.post, "http://127.0.0.1:1/", headers: ["Transfer-Encoding": "gzip"], body: .text("hello"))
        #expect(await httpError { try await transport.deliver(coded) }?.code == .invalidRequest)
        let get = HTTPRequest(.get, "http://127.0.0.1:1/", body: .text("hello"))
        #expect(await httpError { try await transport.deliver(get) }?.code == .unsupported)
    }

    @Test(arguments: [
        (URLError.Code.cannotFindHost, HTTPError.Code.nameResolution, HTTPError.Phase.notSent),
        (.dnsLookupFailed, .nameResolution, .notSent), (.cannotConnectToHost, .connection, .notSent),
        (.notConnectedToInternet, .connection, .notSent), (.secureConnectionFailed, .tls, .notSent),
        (.serverCertificateUntrusted, .tls, .notSent), (.serverCertificateHasBadDate, .tls, .notSent),
        (.timedOut, .timeout, .maybeProcessed), (.networkConnectionLost, .connectionLost, .maybeProcessed),
        (.badServerResponse, .connectionLost, .maybeProcessed), (.cannotParseResponse, .protocolViolation, .maybeProcessed),
        (.cannotDecodeContentData, .decoding, .maybeProcessed), (.unknown, .connectionLost, .maybeProcessed),
        (.unsupportedURL, .invalidRequest, .notSent), (.fileDoesNotExist, .bodyUnreadable, .maybeProcessed),
    ])
    func errorsAreTranslated(code: URLError.Code, expected: HTTPError.Code, progress: HTTPError.Phase) {
        let request = HTTPRequest("http://h/")
        let error = HTTPError(URLError(code), for: request, hasHead: false)
        #expect(error.code == expected)
        #expect(error.phase == progress)
        #expect(HTTPError(URLError(code), for: request, hasHead: true).phase == .answered)
    }

    /// By a session that sends a request again over a new connection when a kept one has died.
    @Test(
        arguments: [
            URLError(.cannotConnectToHost), URLError(.notConnectedToInternet), URLError(.secureConnectionFailed),
            NSError(domain: "kCFErrorDomainCFNetwork", code: 306),
        ] as [any Error])
    func whatWasSentBeforeMayHaveBeenProcessed(cause: any Error) {
        let error = HTTPError(cause, for: HTTPRequest("http://h/"), hasHead: false, wasSent: true)
        #expect(error.phase == .maybeProcessed)
    }

    #if canImport(FoundationNetworking)
        /// Where one address refused and another took the request.
        @Test(arguments: [
            ("Empty reply from server", HTTPError.Code.connectionLost, HTTPError.Phase.maybeProcessed),
            ("Received HTTP/0.9 when not allowed", .protocolViolation, .maybeProcessed),
            ("SSL certificate problem: unable to get local issuer certificate", .tls, .notSent),
            ("Failed to connect to h port 80 after 1 ms: Couldn't connect to server", .connection, .notSent),
            ("Could not connect to server", .connection, .notSent),
            ("Connection timed out after 300000 milliseconds", .connection, .notSent),
        ])
        func aRefusalByAnotherAddressHidesNoError(text: String, expected: HTTPError.Code, phase: HTTPError.Phase) {
            let cause = URLError(.cannotConnectToHost, userInfo: [NSLocalizedDescriptionKey: text])
            let error = HTTPError(cause, for: HTTPRequest("http://h/"), hasHead: false)
            #expect(error.code == expected)
            #expect(error.phase == phase)
        }

        /// In a process of its own, since the environment is everybody's.
        @Test func whatFailsBehindAProxyWasNeverAnswered() async {
            await #expect(processExitsWith: .success) {
                let proxy = try RawServer { connection in
                    guard let head = connection.readRequest() else { return }
                    if head.hasPrefix("CONNECT refused.invalid:443 ") {
                        connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                    } else {
                        connection.write("HTTP/1.1 200 OK\r\n\r\n")
                        connection.receive()
                        connection.write("no TLS at all\r\n")
                    }
                    connection.waitForClose()
                }
                setenv("https_proxy", proxy.url, 1)
                let transport = urlSessionTransport()
                for (url, code) in [("https://refused.invalid/", HTTPError.Code.proxy), ("https://h.invalid/", .tls)] {
                    let error = await httpError { try await transport.deliver(HTTPRequest(url)) }
                    #expect(error?.code == code)
                    #expect(error?.phase == .notSent)
                }
            }
        }

        /// In a process of its own, too.
        @Test func theAddressOfAProxyThatCantBeReadIsNeverShown() async {
            await #expect(processExitsWith: .success) {
                for address in [
                    "http://u:s3c@ret@127.0.0.1:1", "http://u:s3c@127.0.0.1:0x1", "ftp://u:s3c@127.0.0.1:1",
                    "http://s3c:12/3@127.0.0.1:1",
                ] {
                    setenv("http_proxy", address, 1)
                    let transport = urlSessionTransport()
                    let error = await httpError { try await transport.deliver(HTTPRequest("http://h.invalid/")) }
                    #expect(error?.code == .proxy)
                    #expect(error?.phase == .notSent)
                    #expect(error?.description.contains("s3c") == false)
                    #expect(error?.message.contains("s3c") == false)
                }
            }
        }

        @Test(arguments: [
            ("OpenSSL SSL_read: error:0A000119:SSL routines::bad record mac, errno 0", HTTPError.Code.connectionLost),
            ("OpenSSL SSL_read: Connection reset by peer, errno 104", .connectionLost),
            ("OpenSSL SSL_write: Broken pipe, errno 32", .connectionLost),
            ("OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0", .tls),
        ])
        func aSecureConnectionInUseMayHaveSentTheRequest(text: String, expected: HTTPError.Code) {
            let cause = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text])
            let error = HTTPError(cause, for: HTTPRequest("https://h/"), hasHead: false)
            #expect(error.code == expected)
            #expect(error.phase == .maybeProcessed)
            #expect(HTTPError(cause, for: HTTPRequest("https://h/"), hasHead: true).code == .connectionLost)
        }
    #endif

    @Test(arguments: [306, 310, 311]) func whatASystemSaysOfAProxyIsToldAsThat(code: Int) {
        let error = NSError(domain: "kCFErrorDomainCFNetwork", code: code)
        let translated = HTTPError(error, for: HTTPRequest("https://h/"), hasHead: false)
        #expect(translated.code == .proxy)
        #expect(translated.phase == .notSent)
    }
}
