#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Proxies that are spoken to by TLS, against the real servers that `Scripts/with-servers` starts.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct SecureProxyTests {
        private static let credentials = TransportConfiguration.Credentials(user: "u", password: "p")

        /// Forwards nothing, but says what it was asked for; opens tunnels for its user.
        private static func proxy(_ heads: Locked<[String]> = Locked([])) throws -> RawServer {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"])
            return try RawServer(tls: tls) { connection in
                while let head = connection.readHead() {
                    let lines = head.components(separatedBy: "\r\n")
                    heads.withLock { $0.append(lines[0]) }
                    let isKnown = lines.contains("Proxy-Authorization: Basic dTpw")
                    guard head.hasPrefix("CONNECT "), isKnown else {
                        let status = isKnown ? "200 OK" : "407 Proxy Authentication Required"
                        connection.write("HTTP/1.1 \(status)\r\nContent-Length: \(lines[0].utf8.count)\r\n\r\n\(lines[0])")
                        continue
                    }
                    connection.write("HTTP/1.1 200 OK\r\n\r\n")
                    let port = lines[0].split(separator: " ")[1].split(separator: ":").last.flatMap { Int($0) }
                    return connection.relay(to: port ?? 0)
                }
            }
        }

        private func transport(
            through proxy: RawServer, as user: TransportConfiguration.Credentials? = credentials,
            _ change: (inout TransportConfiguration) -> Void = { _ in }
        ) -> any LoopTransport {
            var configuration = TransportConfiguration(proxy: .http("https://localhost:\(proxy.port)", credentials: user))
            configuration.tls.authorities = .file(Servers["CA"])
            change(&configuration)
            return testedTransport(configuration: configuration)
        }

        @Test(arguments: [TransportConfiguration.HTTPVersions.automatic, .http1Only], deliveries)
        func `TLS goes through TLS`(_ versions: TransportConfiguration.HTTPVersions, _ delivery: BodyDelivery) async throws {
            let heads = Locked<[String]>([])
            let proxy = try Self.proxy(heads)
            let transport = transport(through: proxy) { $0.httpVersions = versions }
            let url = Servers["NGINX_HTTPS"]
            for _ in 0..<2 {
                let hello = try await transport.deliver(request("\(url)/hello", delivery))
                #expect(try await hello.body.collect() == Array("hello\n".utf8))
                #expect(hello.version == (versions == .automatic ? .http2 : .http1_1))
                #expect(hello.metrics?.tlsVersion == "TLSv1.3")
            }
            #expect(heads.withLock { $0 } == ["CONNECT \(url.dropFirst(8)) HTTP/1.1"])
            let large = BodyDelivery.streamed == delivery ? delivery : .buffered(upTo: 20 << 20)
            let body = try await transport.deliver(request("\(url)/10m", large)).body.collect()
            #expect(body == Array(try Data(contentsOf: URL(fileURLWithPath: Servers["NGINX_ROOT"] + "/10m"))))
            var upload = request("\(url)/length", delivery)
            upload.method = .post
            upload.body = .bytes([UInt8](repeating: 1, count: 3 << 20))
            let answer = try await transport.deliver(upload).body.collect()
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("\(3 << 20)"))
        }

        @Test func `Requests in the clear are forwarded`() async throws {
            let proxy = try Self.proxy()
            let transport = transport(through: proxy)
            for host in ["a.invalid", "b.invalid"] {
                let response = try await transport.deliver(request("http://\(host)/path", .buffered(upTo: 100)))
                #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "GET http://\(host)/path HTTP/1.1")
            }
        }

        @Test func `The environment's is checked as one that is given`() async throws {
            await #expect(processExitsWith: .success) {
                let proxy = try Self.proxy()
                setenv("http_proxy", "https://u:p@localhost:\(proxy.port)", 1)
                var configuration = TransportConfiguration(proxy: .environment)
                configuration.tls.authorities = .file(Servers["CA"])
                let response = try await testedTransport(configuration: configuration).deliver(
                    request("http://a.invalid/path", .buffered(upTo: 100)))
                #expect(response.status == 200)
            }
        }

        @Test func `A proxy that can't be trusted gets nothing`() async throws {
            let heads = Locked<[String]>([])
            let proxy = try Self.proxy(heads)
            for url in ["http://a.invalid/", Servers["NGINX_HTTPS"] + "/hello"] {
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await transport(through: proxy) { $0.tls.authorities = nil }.deliver(
                        request(url, .buffered(upTo: 10)))
                }
                #expect(error?.code == .tls)
                #expect(error?.phase == .notSent)
            }
            #expect(heads.withLock { $0 }.isEmpty)
        }

        @Test func `The server is checked behind it, and pins are the server's`() async throws {
            let proxy = try Self.proxy()
            let pinned = transport(through: proxy) { $0.tls.pinnedPublicKeys = [Servers["SERVER_PIN"]] }
            let url = Servers["NGINX_HTTPS"]
            #expect(try await pinned.deliver(request("\(url)/hello", .buffered(upTo: 10))).status == 200)
            let error = await #expect(throws: HTTPError.self) {
                _ = try await transport(through: proxy) { $0.tls.pinnedPublicKeys = ["sha256//AAAA"] }
                    .deliver(request("\(url)/hello", .buffered(upTo: 10)))
            }
            #expect(error?.code == .tls)
        }

        /// The proxy ends its own TLS when the server is gone.
        @Test func `A server's connection that ends in the handshake is no fault of TLS`() async throws {
            let tls = try TLSServer(certificate: Servers["SERVER_CERT"], key: Servers["SERVER_KEY"])
            let proxy = try RawServer(tls: tls) { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                _ = connection.readSome()
                connection.endTLS()
                connection.waitForEnd()
            }
            let error = await #expect(throws: HTTPError.self) {
                _ = try await transport(through: proxy).deliver(request("https://a.invalid/", .buffered(upTo: 10)))
            }
            #expect(error?.code == endBehindSecureProxy, "\(error as Any)")
            #expect(error?.phase == .notSent)
        }

        @Test func `A refusal is the proxy's`() async throws {
            let proxy = try Self.proxy()
            let error = await #expect(throws: HTTPError.self) {
                _ = try await transport(through: proxy, as: nil).deliver(
                    request(Servers["NGINX_HTTPS"] + "/hello", .buffered(upTo: 10)))
            }
            #expect(error?.code == .proxy)
            #expect(error?.phase == .notSent)
        }
    }
#endif
