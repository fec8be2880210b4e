#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// Against the real servers that `Scripts/with-servers` starts.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct ReloadingTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }
        private var certificate: String { folder.url.path + "/certificate.pem" }
        private var key: String { folder.url.path + "/key.pem" }

        private func copy(_ name: String, to path: String) throws {
            try String(contentsOfFile: Servers[name], encoding: .utf8).write(toFile: path, atomically: true, encoding: .utf8)
        }

        /// Has the files hold a certificate that nginx trusts.
        private func takeClient() throws {
            try copy("CLIENT_CERT", to: certificate)
            try copy("CLIENT_KEY", to: key)
        }

        /// Of which every request takes a connection of its own, unless they are kept.
        private func transport(
            every interval: Duration = .zero, keepsConnections: Bool = false, authorities: String = Servers["CA"],
            _ failures: Locked<[HTTPError]> = Locked([])
        ) -> WireTransport {
            var configuration = TransportConfiguration(keepsConnections: keepsConnections)
            configuration.tls.authorities = .file(authorities)
            configuration.tls.clientCertificate = .reloading(.init(certificate: certificate, key: key), every: interval) {
                error in
                failures.withLock { $0.append(error) }
            }
            return wireTransport(configuration: configuration)
        }

        private func status(_ transport: WireTransport) async throws -> HTTPStatus {
            try await transport.deliver(request(Servers["NGINX_MTLS"] + "/hello", .buffered(upTo: 1000))).status
        }

        @Test func `New connections take the new certificate`() async throws {
            // nginx answers a certificate that it doesn't trust with 400.
            try takeClient()
            let transport = transport()
            #expect(try await status(transport) == 200)
            try await takeSelfSigned()
            #expect(try await status(transport) == 400)
            try takeClient()
            #expect(try await status(transport) == 200)
        }

        @Test func `A broken file leaves the old one in use, and is told`() async throws {
            try takeClient()
            let failures = Locked<[HTTPError]>([])
            let transport = transport(failures)
            #expect(try await status(transport) == 200)
            #expect(failures.withLock { $0 }.isEmpty)
            // As between the writing of one file and of the other.
            try copy("SERVER_CERT", to: certificate)
            #expect(try await status(transport) == 200)
            #expect(failures.withLock { $0.last }?.code == .tls)
            try FileManager.default.removeItem(atPath: key)
            #expect(try await status(transport) == 200)
            #expect(failures.withLock { $0 }.count == 2)
            try takeClient()
            #expect(try await status(transport) == 200)
            #expect(failures.withLock { $0 }.count == 2)
        }

        @Test func `Without a first one requests fail until there is one`() async throws {
            let failures = Locked<[HTTPError]>([])
            let transport = transport(failures)
            let error = await #expect(throws: HTTPError.self) { _ = try await status(transport) }
            #expect(error?.code == .tls)
            #expect(failures.withLock { $0 }.map(\.code) == [.tls])
            try takeClient()
            #expect(try await status(transport) == 200)
            #expect(failures.withLock { $0 }.count == 1)
        }

        @Test func `A first one is tried again when its own files stay as they are, too`() async throws {
            try takeClient()
            let authorities = folder.url.path + "/authorities.pem"
            let transport = transport(authorities: authorities)
            let error = await #expect(throws: HTTPError.self) { _ = try await status(transport) }
            #expect(error?.code == .tls)
            try copy("CA", to: authorities)
            #expect(try await status(transport) == 200)
        }

        @Test func `New connections trust the new authorities`() async throws {
            try takeClient()
            let authorities = folder.url.path + "/authorities.pem"
            // Nobody's who answers here.
            try copy("CLIENT_CERT", to: authorities)
            let failures = Locked<[HTTPError]>([])
            let transport = transport(authorities: authorities, failures)
            for _ in 0..<2 {
                let error = await #expect(throws: HTTPError.self) { _ = try await status(transport) }
                #expect(error?.code == .tls)
                try copy("CA", to: authorities)
                #expect(try await status(transport) == 200)
                try copy("CLIENT_CERT", to: authorities)
            }
            #expect(failures.withLock { $0 }.isEmpty)
        }

        @Test func `Files aren't looked at before their time, and connections that stand go on`() async throws {
            try takeClient()
            let failures = Locked<[HTTPError]>([])
            let (slow, kept) = (transport(every: .seconds(86_400), failures), transport(keepsConnections: true))
            #expect(try await status(slow) == 200)
            #expect(try await status(kept) == 200)
            try await takeSelfSigned()
            #expect(try await status(slow) == 200)
            #expect(try await status(kept) == 200)
            #expect(failures.withLock { $0 }.isEmpty)
        }

        /// Has them hold one that it doesn't.
        private func takeSelfSigned() async throws {
            let made = try await ChildProcess.run(
                "/usr/bin/env",
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
                    + ["-subj", "/CN=own", "-keyout", key, "-out", certificate])
            try #require(made.status == .exited(0), "\(made.errorText)")
        }
    }
#endif
