#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// RFC 5280 §6, and RFC 9110 §4.3.4 and §4.3.5.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct CertificateTests {
        private func transport(
            trusting authority: String, _ change: (inout TransportConfiguration) -> Void = { _ in }
        ) -> WireTransport {
            var configuration = TransportConfiguration(tls: TLSConfiguration(authorities: .file(authority)))
            change(&configuration)
            return wireTransport(configuration: configuration)
        }

        private func failure(_ transport: WireTransport, _ url: String) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { _ = try await transport.deliver(request(url, .buffered(upTo: 10))) }
        }

        /// Of a request for a name at the server's address.
        private func failure(_ transport: WireTransport, named host: String, _ server: RawServer) async -> HTTPError? {
            await #expect(throws: HTTPError.self) {
                var sent = request("https://\(host)/", .buffered(upTo: 10))
                sent.address = "127.0.0.1:\(server.port)"
                _ = try await transport.deliver(sent)
            }
        }

        @Test func `A certificate has to be of the address`() async throws {
            let authority = try await TestAuthority()
            let server = try authority.server("good")
            let transport = transport(trusting: authority.root) {
                for other in ["127.0.0.2", "[::1]"] { $0.hostOverrides["\(other):\(server.port)"] = "127.0.0.1:\(server.port)" }
            }
            #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).status == 200)
            for other in ["127.0.0.2", "[::1]"] {
                let error = await failure(transport, "https://\(other):\(server.port)/")
                #expect(error?.code == .tls && error?.phase == .notSent)
                #expect(error?.message.contains("IP address mismatch") == true, "\(error as Any)")
            }
        }

        /// OpenSSL takes it for a name where there is none of a server.
        @Test func `The common name of a certificate's subject names no server`() async throws {
            let authority = try await TestAuthority()
            let server = try authority.server("good")
            let error = await failure(transport(trusting: authority.root), named: "good", server)
            #expect(error?.code == .tls && error?.phase == .notSent)
            #expect(error?.message.contains("name mismatch") == true, "\(error as Any)")
        }

        /// OpenSSL takes an empty name for none, and any certificate then; and one that begins with a dot for that of any subdomain.
        @Test(arguments: [".", ".example"])
        func `A name that begins with a dot is one that no certificate is for`(_ name: String) async throws {
            let authority = try await TestAuthority()
            let server = try authority.server("named")
            let error = await failure(transport(trusting: authority.root), named: name, server)
            #expect(error?.code == .tls && error?.phase == .notSent)
        }

        /// Those behind it would be left out.
        @Test func `Of authorities none may be cut short`() async throws {
            let authority = try await TestAuthority()
            let server = try authority.server("good")
            let root = [UInt8](try Data(contentsOf: URL(fileURLWithPath: authority.root)))
            for rest in [root, Array("more".utf8)] {
                let whole = transport(trusting: authority.root) { $0.tls.authorities = .pem(root + rest) }
                #expect(try await whole.deliver(request(server.url, .buffered(upTo: 10))).status == 200)
            }
            let cut = transport(trusting: authority.root) { $0.tls.authorities = .pem(root + root.prefix(root.count / 2)) }
            let error = await failure(cut, server.url)
            #expect(error?.code == .tls && error?.phase == .notSent)
            #expect(error?.message.contains("can't be read") == true, "\(error as Any)")
        }

        @Test(arguments: [("expired", "has expired"), ("early", "is not yet valid")])
        func `A certificate has its time`(_ name: String, _ reason: String) async throws {
            let authority = try await TestAuthority()
            let server = try authority.server(name)
            let error = await failure(transport(trusting: authority.root), server.url)
            #expect(error?.code == .tls && error?.phase == .notSent)
            #expect(error?.message.contains(reason) == true, "\(error as Any)")
        }

        @Test func `A server has to show the authorities between it and one that is trusted`() async throws {
            let authority = try await TestAuthority()
            let whole = try authority.server("chain")
            #expect(
                try await transport(trusting: authority.root).deliver(request(whole.url, .buffered(upTo: 10))).status == 200)
            let part = try authority.server("alone")
            let error = await failure(transport(trusting: authority.root), part.url)
            #expect(error?.code == .tls && error?.phase == .notSent)
        }

        @Test func `The oldest version that is accepted can be said`() async throws {
            let tls = try TLSServer(
                certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false, isOld: true)
            let server = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                connection.write(RawServer.okResponse)
                connection.waitForEnd()
            }
            let response = try await transport(trusting: Servers["CA"]).deliver(request(server.url, .buffered(upTo: 10)))
            #expect(response.metrics?.tlsVersion == "TLSv1.2")
            let strict = transport(trusting: Servers["CA"]) { $0.tls.minimumVersion = .tls1_3 }
            let error = await failure(strict, server.url)
            #expect(error?.code == .tls && error?.phase == .notSent)
        }

        /// RFC 5246 §7.4.1.1: nothing is sent as long as it lasts, and the socket has room all the time.
        @Test func `An upload goes on when TLS 1.2 is negotiated anew`() async throws {
            let tls = try TLSServer(
                certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false, isOld: true)
            let body = [UInt8](repeating: 7, count: 4_000_000)
            let server = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil, let first = connection.read(200_000) else { return }
                connection.renegotiate()
                guard let rest = connection.read(body.count - first.count) else { return }
                let isWhole = first + rest == body
                connection.write("HTTP/1.1 \(isWhole ? 200 : 400) Read\r\nContent-Length: 0\r\n\r\n")
                connection.waitForEnd()
            }
            let transport = transport(trusting: Servers["CA"]) { $0.idleTimeout = .seconds(120) }
            #expect(try await transport.deliver(HTTPRequest(.put, server.url, body: .bytes(body))).status == 200)
        }

        @Test func `A client certificate that can't be read is told by its file`() async throws {
            let certificates: [TLSConfiguration.ClientCertificate] = [
                .init(certificate: "/nowhere/a.pem", key: "/nowhere/b.pem"), .init(pkcs12: "/nowhere/a.pem", password: nil),
                .init(certificate: Servers["CLIENT_CERT"], key: "/nowhere/a.pem"),
            ]
            for certificate in certificates {
                let transport = transport(trusting: Servers["CA"]) { $0.tls.clientCertificate = certificate }
                let error = await failure(transport, "https://127.0.0.1:1/")
                let reason = "can't be read: No such file or directory."
                #expect(error?.message == "The client certificate's file /nowhere/a.pem \(reason)")
            }
        }

        @Test func `Of a client certificate it is told what can't be used`() async throws {
            let (certificate, key) = (Servers["CLIENT_CERT"], Servers["CLIENT_KEY"])
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            let keyless = folder.url.path + "/keyless.p12"
            let export = ["pkcs12", "-export", "-nokeys", "-in", certificate, "-passout", "pass:p", "-out", keyless]
            #expect(try await ChildProcess.run("/usr/bin/openssl", export).status == .exited(0))
            let faults: [(TLSConfiguration.ClientCertificate, String)] = [
                (.init(certificate: certificate, key: certificate), "no private key is there"),
                (.init(certificate: key, key: key), "no certificate that can be read"),
                (.init(certificate: certificate, key: Servers["SERVER_KEY"]), "don't go together (private key mismatch)."),
                (.init(pkcs12: certificate, password: nil), "no archive"),
                (.init(pkcs12: keyless, password: "p"), "can't be used: it has no key."),
            ]
            for (certificate, reason) in faults {
                let transport = transport(trusting: Servers["CA"]) { $0.tls.clientCertificate = certificate }
                let error = await failure(transport, "https://127.0.0.1:1/")
                #expect(error?.code == .tls && error?.message.contains(reason) == true, "\(error as Any)")
            }
        }

        /// As Apache asks for one that a part of its site wants.
        @Test(arguments: [true, false]) func `A certificate that is asked for behind the handshake is given`(
            _ hasOne: Bool
        ) async throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false)
            let server = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 \(connection.peerHasCertificate() ? 200 : 403) \r\nContent-Length: 0\r\n\r\n")
                connection.waitForEnd()
            }
            let transport = transport(trusting: Servers["CA"]) {
                guard hasOne else { return }
                $0.tls.clientCertificate = .init(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"])
            }
            #expect(try await transport.deliver(HTTPRequest(server.url)).status == (hasOne ? 200 : 403))
        }

        /// RFC 9113 §9.2.1. It goes on only where the client takes part.
        @Test func `TLS 1.2 isn't negotiated anew under HTTP/2`() async throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], isOld: true)
            let server = try RawServer.http2(tls: tls) { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.connection.renegotiate()
                guard peer.waitForEcho() else { return }
                peer.write(HTTP2Frame.response(stream: stream))
                peer.connection.waitForEnd()
            }
            let transport = transport(trusting: Servers["CA"])
            let error = await failure(transport, server.url)
            #expect(error?.code == .tls || error?.code == .connectionLost, "\(error as Any)")
            #expect(server.accepted == 1)
        }

        /// RFC 8446 §4.6.3: in the middle of a response, and on a connection that nobody uses.
        @Test func `A connection goes on when its keys are changed`() async throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false)
            let server = try RawServer(tls: tls) { connection in
                while let request = connection.readRequest() {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count + 2)\r\n\r\no")
                    connection.updateKeys()
                    connection.write([UInt8(ascii: "k")] + request.body)
                    connection.updateKeys()
                }
            }
            let transport = transport(trusting: Servers["CA"])
            for size in [0, 1, 100_000] {
                let body = [UInt8](repeating: 7, count: size)
                var sent = request(server.url, .buffered(upTo: 1 << 20))
                sent.method = .post
                sent.body = .bytes(body)
                #expect(try await transport.deliver(sent).body.bytes == Array("ok".utf8) + body)
            }
            #expect(server.accepted == 1)
        }

        /// Each time takes some work, and has to be answered.
        @Test(arguments: [(100, nil), (5_000, .tls)] as [(Int, HTTPError.Code?)])
        func `A server that changes the keys again and again loses the connection`(_ count: Int, _ code: HTTPError.Code?)
            async throws
        {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"], offersHTTP2: false)
            let server = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                for _ in 0..<count { connection.updateKeys() }
                connection.write(RawServer.okResponse)
                connection.waitForEnd()
            }
            let transport = transport(trusting: Servers["CA"])
            guard let code else {
                #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).status == 200)
                return
            }
            #expect(await failure(transport, server.url)?.code == code)
            #expect(server.accepted == 1)
        }
    }
#endif
