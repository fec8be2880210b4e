#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamCurl
    import MidstreamTransport
    import TestSupport
    import Testing

    /// The file of the authorities that servers are checked by.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AuthoritiesTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test func `Authorities that can't be read at first are read with a later request`() async throws {
            let file = folder.url.appendingPathComponent("authorities.pem")
            let server = try RawServer.ok()
            let transport = curlTransport(
                configuration: TransportConfiguration(tls: TLSConfiguration(authorities: .file(file.path))))
            for _ in 0..<2 {
                let error = await httpError { try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
                #expect(error?.code == .tls && error?.phase == .notSent)
            }
            try Data("authorities".utf8).write(to: file)
            #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).status == 200)
        }
    }
#endif
