#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// An nghttp2 that lets servers hold up the client.
    @Suite("A library that can't be trusted with HTTP/2", .leavesNothing, .timeLimit(.minutes(10)))
    struct HTTP2SettingTests {
        private func transport(_ versions: TransportConfiguration.HTTPVersions) -> WireTransport {
            wireTransport(WireSettings(TransportConfiguration(httpVersions: versions), canSpeakHTTP2: false))
        }

        @Test(arguments: [(.automatic, true), (.http1Only, false)] as [(TransportConfiguration.HTTPVersions, Bool)])
        func `Is passed over, and the trace says so where HTTP/2 might have been spoken`(
            versions: TransportConfiguration.HTTPVersions, isNoted: Bool
        ) async throws {
            let transport = transport(versions)
            let error = await httpError {
                try await testClient(transport: transport).send(HTTPRequest("https://127.0.0.1:1/"))
            }
            let trace = error?.trace?.description ?? ""
            #expect(!trace.isEmpty && trace.contains("HTTP/2 isn't spoken: the nghttp2 that is loaded") == isNoted)
        }

        @Test func `Refuses HTTP/2 alone`() async throws {
            let transport = transport(.http2PriorKnowledge)
            let error = await httpError { try await transport.send(HTTPRequest("http://127.0.0.1:1/")) }
            #expect(error?.code == .unsupported && error?.phase == .notSent)
        }
    }
#endif
