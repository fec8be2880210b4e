#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Against the real servers that `Scripts/with-servers` starts.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct NginxTests {
        let transport: any LoopTransport

        init() {
            var configuration = TransportConfiguration()
            configuration.tls.authorities = .file(Servers["CA"])
            transport = testedTransport(configuration: configuration)
        }

        @Test(arguments: deliveries)
        func `A refusal arrives before the upload is read`(_ delivery: BodyDelivery) async throws {
            let bytes = [UInt8](repeating: 0, count: 8 << 20)
            // While curl waits for more of a body it doesn't see by itself that the response is whole.
            let stalled = HTTPBody.stream(length: 8 << 20) { AsyncStream<[UInt8]> { $0.yield([1, 2, 3]) } }
            for url in [Servers["NGINX_HTTPS"], Servers["NGINX_HTTP"]] {
                for body: HTTPBody in [
                    stalled, .bytes(bytes), .stream(length: 8 << 20) { [bytes].stream }, .stream { [bytes].stream },
                ] {
                    for (path, status) in [("/small-limit", 413), ("/refused", 403)] {
                        var sent = request(url + path, delivery)
                        sent.method = .post
                        sent.body = body
                        let response = try await transport.deliver(sent)
                        #expect(response.status.code == status)
                        #expect((response.body.length == nil) == (delivery == .streamed && status == 403))
                        _ = try await response.body.collect()
                    }
                }
            }
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

        @Test func `HTTP/1.1 can be had over TLS`() async throws {
            var configuration = transport.configuration
            configuration.httpVersions = .http1Only
            let response = try await testedTransport(configuration: configuration).send(
                HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
            #expect(response.version == .http1_1)
        }

        @Test func `An authority that isn't trusted fails the handshake`() async throws {
            var other = TransportConfiguration()
            var pinned = transport.configuration
            pinned.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            var unreadable = TransportConfiguration()
            unreadable.tls.authorities = .file("/nowhere.pem")
            var none = TransportConfiguration()
            none.tls.trustsSystemAuthorities = false
            for configuration in [other, pinned, unreadable, none] {
                let error = try await #require(throws: HTTPError.self) {
                    try await testedTransport(configuration: configuration).send(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                }
                #expect(error.code == .tls && error.phase == .notSent)
            }
            other.tls.verifiesCertificates = false
            #expect(
                try await testedTransport(configuration: other).send(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello")).status == 200
            )
        }

        @Test func `Authorities in memory, pins and client certificates are used`() async throws {
            var configuration = TransportConfiguration()
            configuration.tls.authorities = .pem([UInt8](try Data(contentsOf: URL(fileURLWithPath: Servers["CA"]))))
            configuration.tls.trustsSystemAuthorities = false
            configuration.tls.pinnedPublicKeys = [Servers["SERVER_PIN"]]
            configuration.tls.clientCertificate = .init(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"])
            configuration.tls.minimumVersion = .tls1_3
            let response = try await testedTransport(configuration: configuration).send(
                HTTPRequest(Servers["NGINX_MTLS"] + "/hello"))
            #expect(response.status == 200)
        }

        @Test func `A client certificate may be in memory`() async throws {
            func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: Servers[name]))) }
            let (certificate, key) = (try bytes("CLIENT_CERT"), try bytes("CLIENT_KEY"))
            var configuration = transport.configuration
            for client in [
                TLSConfiguration.ClientCertificate(certificate: certificate, key: key),
                .init(pkcs12: try bytes("CLIENT_PKCS12"), password: Servers["CLIENT_PASSWORD"]),
            ] {
                configuration.tls.clientCertificate = client
                let response = try await testedTransport(configuration: configuration).deliver(
                    HTTPRequest(Servers["NGINX_MTLS"] + "/hello"))
                #expect(response.status == 200)
            }
            for client in [
                TLSConfiguration.ClientCertificate(certificate: certificate, key: Array("no key".utf8)),
                .init(certificate: certificate + certificate.dropLast(100), key: key),
                .init(pkcs12: try bytes("CLIENT_PKCS12"), password: "another"), .init(pkcs12: [], password: nil),
                .init(certificate: [], key: []),
            ] {
                configuration.tls.clientCertificate = client
                let transport = testedTransport(configuration: configuration)
                let error = await #expect(throws: HTTPError.self) {
                    try await transport.deliver(HTTPRequest(Servers["NGINX_MTLS"] + "/hello"))
                }
                #expect(error?.code == .tls && error?.phase == .notSent, "\(error as Any)")
            }
        }

        @Test(arguments: ["file", "folder"])
        func `Authorities that the environment names are trusted`(_ what: String) async throws {
            let folder = try TemporaryFolder()
            let hash = try await ChildProcess.run("/usr/bin/openssl", ["x509", "-noout", "-hash", "-in", Servers["CA"]]).text
            let name = hash.trimmingCharacters(in: .whitespacesAndNewlines) + ".0"
            try FileManager.default.copyItem(atPath: Servers["CA"], toPath: "\(folder.url.path)/\(name)")
            await #expect(processExitsWith: .success) { [what, path = folder.url.path as String] in
                if what == "file" {
                    // Alone, whatever this machine's environment has. A folder isn't: a libcurl may have a file of its own that isn't there.
                    unsetenv("SSL_CERT_DIR")
                    setenv("SSL_CERT_FILE", Servers["CA"], 1)
                }
                if what == "folder" { setenv("SSL_CERT_DIR", "/nowhere:\(path)", 1) }
                var configuration = TransportConfiguration()
                for authorities in [nil, TLSConfiguration.Authorities.file(Servers["CLIENT_CERT"])] {
                    configuration.tls.authorities = authorities
                    let transport = testedTransport(configuration: configuration)
                    let response = try await transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                    #expect(response.status == 200)
                }
                configuration.tls.trustsSystemAuthorities = false
                let transport = testedTransport(configuration: configuration)
                let error = await #expect(throws: HTTPError.self) {
                    try await transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                }
                #expect(error?.code == .tls)
            }
        }

        @Test func `Empty names of authorities in the environment are none`() async throws {
            await #expect(processExitsWith: .success) {
                for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] { setenv(name, "", 1) }
                var configuration = TransportConfiguration()
                configuration.tls.authorities = .file(Servers["CA"])
                let transport = testedTransport(configuration: configuration)
                let response = try await transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                #expect(response.status == 200)
            }
        }

        @Test(arguments: ["/nowhere", "/etc/passwd"])
        func `Authorities that the environment names have to be there`(_ path: String) async throws {
            await #expect(processExitsWith: .success) { [path] in
                setenv("SSL_CERT_FILE", path, 1)
                setenv("SSL_CERT_DIR", URL(fileURLWithPath: Servers["CA"]).deletingLastPathComponent().path, 1)
                let transport = testedTransport()
                let error = await #expect(throws: HTTPError.self) {
                    try await transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                }
                #expect(error?.code == .tls && error?.message.contains(path) == true, "\(error as Any)")
            }
        }

        @Test func `A unix domain socket is spoken to`() async throws {
            var configuration = TransportConfiguration()
            configuration.unixSocketPath = Servers["NGINX_SOCKET"]
            let response = try await testedTransport(configuration: configuration).send(HTTPRequest("http://any.invalid/hello"))
            #expect(response.status == 200)
            #expect(try await response.body.collect() == Array("hello\n".utf8))
        }

        @Test func `Proxies are used, with credentials and exceptions`() async throws {
            let credentials = TransportConfiguration.Credentials(
                user: Servers["PROXY_USER"], password: Servers["PROXY_PASSWORD"])
            for proxy: TransportConfiguration.Proxy in [
                .http(Servers["HTTP_PROXY"], credentials: credentials), .http(Servers["HTTP_PROXY_OPEN"]),
                .socks5(Servers["SOCKS_PROXY"].replacing("socks5://", with: ""), credentials: credentials),
                .http("http://127.0.0.1:1", noProxy: ["localhost", "127.0.0.1"]),
            ] {
                var configuration = transport.configuration
                configuration.proxy = proxy
                let proxied = testedTransport(configuration: configuration)
                for url in [Servers["NGINX_HTTP"], Servers["NGINX_HTTPS"]] {
                    #expect(try await proxied.send(HTTPRequest("\(raw: url)/hello")).status == 200, "\(proxy) \(url)")
                }
            }
            for proxy: TransportConfiguration.Proxy in [
                .http(Servers["HTTP_PROXY"]), .http("http://127.0.0.1:1"),
                .socks5(Servers["SOCKS_PROXY"].replacing("socks5://", with: "")),
            ] {
                var configuration = transport.configuration
                configuration.proxy = proxy
                let error = try await #require(throws: HTTPError.self) {
                    try await testedTransport(configuration: configuration).send(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello"))
                }
                #expect(error.code == .proxy && error.phase == .notSent, "\(error)")
            }
        }

        /// In a process of its own: the memory of one that runs other tests says nothing.
        @Test(arguments: ["NGINX_HTTP", "NGINX_HTTPS"]) func `A gibibyte passes through little memory`(_ name: String)
            async throws
        {
            await #expect(processExitsWith: .success) { [name] in
                let response = try await Self().transport.deliver(HTTPRequest(Servers[name] + "/large"))
                #expect(response.body.length == 1 << 30)
                let before = try Self.peakMemory()
                var count = 0
                for try await chunk in response.body { count += chunk.count }
                #expect(count == 1 << 30)
                // Under ten without a sanitizer, which adds its own.
                #expect(try Self.peakMemory() - before < 64 << 20)
            }
        }

        /// OpenSSL puts itself away when a process ends, though other threads may be using it.
        @Test func `A process may end while connections are made`() async throws {
            for _ in 0..<5 {
                await #expect(processExitsWith: .success) {
                    for _ in 0..<8 {
                        Task.detached {
                            while true { _ = try await Self().transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello")) }
                        }
                    }
                    for _ in 0..<8 { _ = try await Self().transport.deliver(HTTPRequest(Servers["NGINX_HTTPS"] + "/hello")) }
                }
            }
        }

        @Test(arguments: ["NGINX_HTTP", "NGINX_HTTPS"]) func `Large bodies go up`(_ name: String) async throws {
            let chunk = [UInt8](repeating: 1, count: 1 << 20)
            let body = HTTPBody.stream {
                let left = Locked(100)
                return AsyncStream<[UInt8]> {
                    left.withLock { left in
                        left -= 1
                        return left >= 0 ? chunk : nil
                    }
                }
            }
            let response = try await transport.deliver(HTTPRequest(.post, Servers[name] + "/length", body: body))
            #expect(try await response.body.collect() == Array("\(100 << 20)\n".utf8))
        }

        @Test(arguments: ["NGINX_HTTP", "NGINX_HTTPS"]) func `A stopped response doesn't hold up others`(_ name: String)
            async throws
        {
            let stopped = try await transport.deliver(HTTPRequest(Servers[name] + "/large"))
            for _ in 0..<20 {
                let response = try await transport.deliver(request(Servers[name] + "/10m", .buffered(upTo: 20 << 20)))
                #expect(response.body.bytes?.count == 10 << 20)
            }
            stopped.body.close()
        }

        /// In TLS 1.3 the server says so when the request is under way (RFC 8446 §4.4.2.4).
        @Test(arguments: [true, false])
        func `A client certificate that is missing or refused is a matter of TLS`(_ isMissing: Bool) async throws {
            let certificate = Servers["CLIENT_CERT"]
            let key = Servers["CLIENT_KEY"]
            // It trusts no authority, and ends with the first connection.
            let command = "exec openssl s_server -accept 127.0.0.1:0 -naccept 1 -cert \(certificate) -key \(key)"
            let server = try #require(popen("\(command) -no-CAfile -no-CApath -Verify 1 -verify_return_error -www 2>&1", "r"))
            defer { pclose(server) }
            var port: Substring?
            var line = [CChar](repeating: 0, count: 256)
            while port == nil, fgets(&line, 256, server) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("ACCEPT") { port = text.split(separator: ":").last?.prefix { $0.isNumber } }
            }
            var configuration = TransportConfiguration()
            configuration.tls.verifiesCertificates = false
            if !isMissing { configuration.tls.clientCertificate = .init(certificate: certificate, key: key) }
            let transport = testedTransport(configuration: configuration)
            let url = "https://127.0.0.1:\(try #require(port))/"
            let error = await #expect(throws: HTTPError.self) { try await transport.deliver(HTTPRequest(url)) }
            #expect(error?.code == .tls, "\(error as Any)")
        }

        private static func peakMemory() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.split(separator: " ")[1])) << 10
        }
    }

    enum Servers {
        static var areRunning: Bool { ProcessInfo.processInfo.environment["MIDSTREAM_NGINX_HTTP"] != nil }

        static subscript(name: String) -> String { ProcessInfo.processInfo.environment["MIDSTREAM_\(name)"] ?? "" }
    }
#endif
