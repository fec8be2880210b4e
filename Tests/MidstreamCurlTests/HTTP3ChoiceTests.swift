#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamCurl

    @Suite("The wish for HTTP/3", .leavesNothing) struct HTTP3ChoiceTests {
        private typealias Versions = TransportConfiguration.HTTPVersions

        @Test(arguments: [Versions.automatic, .http1Only, .http2PriorKnowledge])
        func `Without it nothing is different`(versions: TransportConfiguration.HTTPVersions) {
            let choice = HTTP3Choice(TransportConfiguration(httpVersions: versions), obstacle: "it is old")
            #expect(choice.versions == versions)
            #expect(choice.remark == nil && choice.problem == nil)
        }

        @Test(arguments: [Versions.http3, .http3Only])
        func `Is granted`(versions: TransportConfiguration.HTTPVersions) {
            let choice = HTTP3Choice(TransportConfiguration(httpVersions: versions), obstacle: nil)
            #expect(choice.versions == versions)
            #expect(choice.remark == nil && choice.problem == nil)
        }

        @Test func `Is refused or passed over where libcurl, a proxy or a socket is in the way`() {
            let proxied = TransportConfiguration(proxy: .environment)
            let local = TransportConfiguration(unixSocketPath: "/run/socket")
            let plain = TransportConfiguration()
            for (configuration, obstacle, reason) in [
                (plain, "it is old", "it is old"), (proxied, nil, "proxies are configured, which don't carry it"),
                (local, nil, "a unix domain socket doesn't carry it"),
            ] {
                var configuration = configuration
                configuration.httpVersions = .http3
                let choice = HTTP3Choice(configuration, obstacle: obstacle)
                #expect(choice.versions == .automatic)
                #expect(choice.remark == "HTTP/3 isn't spoken: \(reason)")
                #expect(choice.problem == nil)
                configuration.httpVersions = .http3Only
                let problem = HTTP3Choice(configuration, obstacle: obstacle).problem
                #expect(problem?.code == .unsupported && problem?.phase == .notSent)
                #expect(problem?.message == "httpVersions is .http3Only, but HTTP/3 can't be spoken: \(reason).")
            }
        }

        @Test(arguments: [
            (
                0x07_58_01, false,
                "the libcurl that is loaded is 7.88.1, built without it; it takes 7.88.0 or newer, built with it"
            ),
            (0x07_57_00, true, "the libcurl that is loaded is 7.87.0; it takes 7.88.0 or newer, built with it"),
            (0x08_17_00, true, nil),
        ])
        func `Takes a libcurl that can`(version: UInt32, isBuiltIn: Bool, obstacle: String?) {
            #expect(CurlLibrary.obstacleToHTTP3(version: version, isBuiltIn: isBuiltIn) == obstacle)
        }

        @Test(.enabled(if: CurlLibrary.obstacleToHTTP3 != nil)) func `Alone fails with both versions where libcurl can't`()
            async throws
        {
            let transport = curlTransport(configuration: TransportConfiguration(httpVersions: .http3Only))
            let error = await httpError { try await transport.send(HTTPRequest("https://127.0.0.1:1/")) }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("7.88.0 or newer") == true)
        }
    }
#endif
