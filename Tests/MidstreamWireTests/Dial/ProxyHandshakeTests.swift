#if os(Linux)
    import MidstreamCore
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing) struct ProxyHandshakeTests {
        /// What is sent in answer to bytes that come one by one.
        private func answers<Handshake: ProxyHandshake>(
            _ bytes: [UInt8], _ handshake: inout Handshake
        ) throws(HTTPError) -> (sent: [[UInt8]], isDone: Bool) {
            var sent: [[UInt8]] = []
            var input: [UInt8] = []
            for byte in bytes {
                input.append(byte)
                switch try handshake.next(&input) {
                case .wait: break
                case .send(let bytes): sent.append(bytes)
                case .done: return (sent, true)
                }
            }
            return (sent, false)
        }

        private let credentials = TransportConfiguration.Credentials(user: "ab", password: "c")

        @Test func `SOCKS 5, by name and with a password`() throws {
            var handshake = try SOCKSHandshake(to: "h.example", port: 443, credentials: credentials)
            #expect(handshake.opening() == [5, 2, 0, 2])
            let (sent, isDone) = try answers([5, 2, 1, 0, 5, 0, 0, 1, 1, 2, 3, 4, 0, 80], &handshake)
            #expect(sent == [[1, 2, 97, 98, 1, 99], [5, 1, 0, 3, 9] + Array("h.example".utf8) + [1, 187]])
            #expect(isDone)
        }

        @Test(
            arguments: [
                ("127.0.0.1", [5, 1, 0, 1, 127, 0, 0, 1, 0, 80]),
                ("::1", [5, 1, 0, 4] + Array(repeating: 0, count: 15) + [1, 0, 80]),
            ] as [(String, [UInt8])])
        func `Addresses go as addresses`(host: String, request: [UInt8]) throws {
            var handshake = try SOCKSHandshake(to: host, port: 80, credentials: nil)
            #expect(handshake.opening() == [5, 1, 0])
            let (sent, isDone) = try answers([5, 0, 5, 0, 0, 3, 1, 97, 0, 80], &handshake)
            #expect(sent == [request])
            #expect(isDone)
        }

        @Test(
            arguments: [
                [4, 0], [5, 255], [5, 2], [5, 0, 5, 5, 0, 1, 0, 0, 0, 0, 0, 0], [5, 0, 4, 0, 0, 1, 0], [5, 0, 5, 0, 0, 9, 0],
            ] as [[UInt8]])
        func `What a SOCKS proxy refuses, or says wrongly, is its error`(bytes: [UInt8]) throws {
            var handshake = try SOCKSHandshake(to: "h.example", port: 80, credentials: nil)
            let error = #expect(throws: HTTPError.self) { _ = try answers(bytes, &handshake) }
            #expect(error?.code == .proxy)
        }

        @Test func `What comes before the tunnel's first byte isn't the server's`() {
            var tunnel = Tunnel(authority: "h.example:443", authorization: nil)
            var input = Array("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK".utf8)
            let error = #expect(throws: HTTPError.self) { _ = try tunnel.next(&input) }
            #expect(error?.code == .proxy)
        }

        @Test func `A wrong password is told without it`() throws {
            var handshake = try SOCKSHandshake(to: "h.example", port: 80, credentials: .init(user: "u", password: "s3cret"))
            let error = #expect(throws: HTTPError.self) { _ = try answers([5, 2, 1, 1], &handshake) }
            #expect(error?.message.contains("s3cret") == false)
        }

        @Test func `What doesn't fit into SOCKS is refused before anything is sent`() {
            #expect(throws: HTTPError.self) {
                _ = try SOCKSHandshake(to: String(repeating: "a", count: 256), port: 80, credentials: nil)
            }
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", true), ("HTTP/1.0 204\r\nX: y\r\n\r\n", true),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", true), ("HTTP/1.1 200 OK\r\n", false),
        ])
        func `A tunnel is open with the head of its answer`(answer: String, isOpen: Bool) throws {
            var tunnel = Tunnel(authority: "h.example:443", authorization: "Basic eA==")
            #expect(
                String(decoding: tunnel.opening(), as: UTF8.self)
                    == "CONNECT h.example:443 HTTP/1.1\r\nHost: h.example:443\r\nProxy-Authorization: Basic eA==\r\n\r\n")
            let (sent, isDone) = try answers(Array(answer.utf8), &tunnel)
            #expect(sent.isEmpty)
            #expect(isDone == isOpen)
        }

        @Test func `The answer may come together with an interim one`() throws {
            var tunnel = Tunnel(authority: "h.example:443", authorization: nil)
            var input = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8)
            let step = try tunnel.next(&input)
            let isDone = if case .done = step { true } else { false }
            #expect(isDone)
        }

        @Test(arguments: [
            "HTTP/1.1 407 No\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "SSH-2.0\r\n", "HTTP/1.1 abc\r\n\r\n",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 33) + "HTTP/1.1 200 OK\r\n\r\n",
        ])
        func `Any other answer is the proxy's error`(answer: String) {
            var tunnel = Tunnel(authority: "h.example:443", authorization: nil)
            let error = #expect(throws: HTTPError.self) { _ = try answers(Array(answer.utf8), &tunnel) }
            #expect(error?.code == .proxy)
        }

        /// RFC 9110 §11.7.1.
        @Test func `A proxy that wants to know who asks says how`() {
            var tunnel = Tunnel(authority: "h.example:443", authorization: nil)
            let answer = "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate: Basic realm=\"p\"\r\n\r\n"
            let error = #expect(throws: HTTPError.self) { _ = try answers(Array(answer.utf8), &tunnel) }
            #expect(
                error?.message == "The proxy refused the tunnel with status 407, and asks for Negotiate, Basic realm=\"p\".")
        }
    }
#endif
