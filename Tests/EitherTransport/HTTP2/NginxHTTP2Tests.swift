#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Against the real servers that `Scripts/with-servers` starts.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct NginxHTTP2Tests {
        let transport: any LoopTransport

        init() {
            var configuration = TransportConfiguration()
            configuration.tls.authorities = .file(Servers["CA"])
            transport = testedTransport(configuration: configuration)
        }

        @Test func `HTTP/2 is spoken over TLS, and requests share a connection`() async throws {
            let url = Servers["NGINX_HTTPS"] + "/hello"
            let ports = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let response = try await transport.deliver(request(url, .buffered(upTo: 100)))
                        #expect(response.version == .http2)
                        #expect(response.body.bytes == Array("hello\n".utf8))
                        #expect(response.metrics?.tlsVersion == "TLSv1.3")
                        #expect(response.metrics?.tlsHandshake != nil)
                        return response.metrics?.localPort
                    }
                }
                return try await group.reduce(into: Set<Int?>()) { $0.insert($1) }
            }
            #expect(ports.count == 1)
        }
    }
#endif
