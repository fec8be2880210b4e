#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamCurl
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Where nothing but the connection's end tells that of a body, it has to be a clean one (RFC 9112 §8 and §9.8).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct BodyEndTests {
        /// How a server ends the connection.
        private enum Ending: CaseIterable {
            case asAgreed
            /// Without TLS's end, as anybody on the way can do it.
            case cut
            case reset
        }

        private static let heads = [
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n",
        ]

        private static func server(_ head: String, body: String, _ ending: Ending, tls: TLSServer? = nil) throws -> RawServer {
            try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                connection.write(head + body)
                switch ending {
                case .asAgreed: connection.endTLS()
                case .cut: break
                case .reset: connection.reset()
                }
            }
        }

        @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
        func withoutTLS(transport: TransportUnderTest, delivery: Delivery) async throws {
            for (head, body) in Self.heads.flatMap({ head in ["body", ""].map { (head, $0) } }) {
                let client = transport.client()
                let closing = try Self.server(head, body: body, .asAgreed)
                #expect(try await delivery.send(HTTPRequest(closing.url), by: client).text == body)
                let resetting = try Self.server(head, body: body, .reset)
                await expectError(.connectionLost, .answered) {
                    try await delivery.send(HTTPRequest(resetting.url), by: client)
                }
            }
        }

        /// As servers do it that refuse a request unread.
        @Test(arguments: TransportUnderTest.allCases)
        func `A refusal is told by its status, though its body is cut`(transport: TransportUnderTest) async throws {
            for status in [431, 503] {
                let server = try Self.server("HTTP/1.1 \(status) X\r\nConnection: close\r\n\r\n", body: "bo", .reset)
                let client = transport.client { $0.validators = HTTPClient.Configuration().validators }
                let error = await expectError(.unacceptableStatus, .answered) { try await client.send(HTTPRequest(server.url)) }
                #expect(error?.response?.status.code == status)
                await expectError(.connectionLost, .answered) { try await error?.response?.body.collect() }
            }
        }

        /// Who takes it wants all of it.
        @Test(arguments: TransportUnderTest.allCases)
        func `A status that is accepted isn't enough`(transport: TransportUnderTest) async throws {
            let server = try Self.server("HTTP/1.1 404 X\r\nContent-Length: 4\r\n\r\n", body: "bo", .reset)
            let client = transport.client { $0.validators = HTTPClient.Configuration().validators }
            var request = HTTPRequest(server.url)
            request.acceptableStatus = [200, 404]
            let error = await expectError(.connectionLost, .answered) { try await client.send(request) }
            #expect(error?.response?.status == 404)
        }

        /// The system tells of a reset once. Here it tells who sends, so that reading finds nothing but an end.
        @Test func `A reset that an upload meets cuts the answer's body`() async throws {
            let hasHead = DispatchSemaphore(value: 0)
            defer { hasHead.signal() }
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\nbody")
                hasHead.wait()
                connection.reset()
            }
            let client = TransportUnderTest.client(on: wireTransport())
            let response = try await client.stream(HTTPRequest(.put, server.url, body: .bytes(noise(10 << 20))))
            hasHead.signal()
            await expectError(.connectionLost, .answered) { try await response.body.collect() }
        }

        @Test(.enabled(if: Nginx.isRunning), arguments: TransportUnderTest.allCases, Delivery.allCases)
        func underTLS(transport: TransportUnderTest, delivery: Delivery) async throws {
            try await needing(.endUnderTLS, of: transport) {
                let client = TransportUnderTest.client(on: try transport.trustingTestAuthority())
                for head in Self.heads { try await Self.expectEnds(head, delivery, by: client) }
            }
        }

        private static func expectEnds(_ head: String, _ delivery: Delivery, by client: HTTPClient) async throws {
            let tls = try TLSServer(
                certificate: try #require(Nginx.serverCertificate), key: try #require(Nginx.serverKey), offersHTTP2: false)
            for body in ["body", ""] {
                for ending in Ending.allCases {
                    let server = try server(head, body: body, ending, tls: tls)
                    if ending == .asAgreed {
                        #expect(try await delivery.send(HTTPRequest(server.url), by: client).text == body)
                    } else {
                        await expectError(.connectionLost, .answered) {
                            try await delivery.send(HTTPRequest(server.url), by: client)
                        }
                    }
                }
            }
            // Where the message tells its end, the connection's doesn't matter.
            for rest in ["Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"] {
                let server = try server("HTTP/1.1 200 OK\r\n", body: rest, .cut, tls: tls)
                #expect(try await delivery.send(HTTPRequest(server.url), by: client).text == "body")
            }
        }
    }

    extension TransportUnderTest {
        /// A new one that trusts whoever has signed the test servers' certificates.
        fileprivate func trustingTestAuthority() throws -> any HTTPTransport {
            var tls = TLSConfiguration()
            tls.authorities = .file(try #require(Nginx.authority))
            switch self {
            case .wire: return wireTransport(configuration: .init(tls: tls))
            // Its server is asked by TCP alone.
            case .curl, .http3: return curlTransport(configuration: .init(tls: tls))
            case .urlSession: return urlSessionTransport(tls: tls)
            }
        }
    }
#endif
