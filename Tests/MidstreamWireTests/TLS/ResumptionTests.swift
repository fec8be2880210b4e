#if os(Linux)
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// RFC 8446 §2.2.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct ResumptionTests {
        private let server: RawServer

        init() throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false)
            server = try RawServer.ok(tls: tls)
        }

        /// Of which every request takes a connection of its own.
        private func transport(verifiesCertificates: Bool = true) -> WireTransport {
            let tls = TLSConfiguration(authorities: .file(Servers["CA"]), verifiesCertificates: verifiesCertificates)
            return wireTransport(configuration: TransportConfiguration(tls: tls, keepsConnections: false))
        }

        private func isResumed(over transport: WireTransport) async throws -> Bool? {
            try await transport.deliver(request(server.url, .buffered(upTo: 10))).metrics?.isResumedSession
        }

        @Test func `Later connections go on with an earlier one's session`() async throws {
            let transport = transport()
            #expect(try await isResumed(over: transport) == false)
            for _ in 1...3 { #expect(try await isResumed(over: transport) == true) }
            #expect(server.accepted == 4)
        }

        /// RFC 8446 §C.4. A server gives two tickets first, and another one for each that is used.
        @Test func `A ticket is used once`() async throws {
            let transport = transport()
            let loop = try #require(transport.executor as? WireLoop)
            let context = try #require(try loop.settings.tlsContext(isSecure: true))
            func takeTicket() throws {
                _ = try TLSSession(context, host: "127.0.0.1", peer: "127.0.0.1:\(server.port)", protocols: [])
            }
            #expect(try await isResumed(over: transport) == false)
            try takeTicket()
            #expect(try await isResumed(over: transport) == true)
            try takeTicket()
            #expect(try await isResumed(over: transport) == false)
        }

        @Test func `What was checked otherwise isn't gone on with`() async throws {
            for verifiesFirst in [true, false] {
                let first = transport(verifiesCertificates: verifiesFirst)
                #expect(try await isResumed(over: first) == false)
                #expect(try await isResumed(over: first) == true)
                #expect(try await isResumed(over: transport(verifiesCertificates: !verifiesFirst)) == false)
            }
        }
    }
#endif
