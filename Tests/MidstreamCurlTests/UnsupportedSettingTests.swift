#if os(Linux)
    import MidstreamCore
    import MidstreamCurl
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    /// What the wire can do and libcurl can't.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UnsupportedSettingTests {
        @Test func `Settings fail every request, and are named`() async throws {
            let certificate = TLSConfiguration.ClientCertificate(certificate: "/none", key: "/none")
            for (name, configuration) in [
                ("resolver", TransportConfiguration(resolver: { _ in ["127.0.0.1"] })),
                ("keyLog(to:)", TransportConfiguration(tls: TLSConfiguration().keyLog(to: "/dev/null"))),
                ("reloading", TransportConfiguration(tls: TLSConfiguration(clientCertificate: .reloading(certificate)))),
            ] {
                let transport = curlTransport(configuration: configuration)
                let error = await httpError { try await transport.send(HTTPRequest("http://127.0.0.1/")) }
                #expect(error?.code == .unsupported)
                #expect(error?.message.contains(name) == true)
            }
        }

        /// Newer versions of libcurl would take it for none.
        @Test func `A client certificate of no bytes is refused here`() async throws {
            for certificate in [
                TLSConfiguration.ClientCertificate(certificate: [], key: []), .init(pkcs12: [UInt8](), password: nil),
            ] {
                let transport = curlTransport(configuration: .init(tls: TLSConfiguration(clientCertificate: certificate)))
                let error = await httpError { try await transport.send(HTTPRequest("https://127.0.0.1:1/")) }
                #expect(error?.code == .tls && error?.message == "The client certificate in memory has no bytes.")
            }
        }

        @Test func `Connections can't be made ahead`() async throws {
            let client = testClient(transport: curlTransport())
            let error = await #expect(throws: HTTPError.self) { try await client.prepare("http://127.0.0.1/") }
            #expect(error?.code == .unsupported)
        }
    }
#endif
