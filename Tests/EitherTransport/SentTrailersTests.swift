#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SentTrailersTests {
        /// RFC 9112 §7.1.2, RFC 9110 §6.5.1.
        @Test func `They are sent as they are, and don't frame`() async throws {
            let expected = Array("1\r\na\r\n0\r\nX-Name: caf".utf8) + [0xe9] + Array("\r\nX-Sum: 1\r\n\r\n".utf8)
            let body = Locked<[UInt8]?>(nil)
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                let bytes = connection.read(expected.count)
                body.withLock { $0 = bytes }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let lines = Array("X-Name:caf".utf8) + [0xe9] + Array("\nContent-Length:9\nTransfer-Encoding:gzip\nX-Sum:1\n".utf8)
            let trailers = HTTPHeaders(lines: lines)
            var sent = HTTPRequest(.post, server.url, body: .stream { chunks("a") })
            sent.trailers = { trailers }
            let transport = testedTransport()
            #expect(try await transport.deliver(sent).status == 200)
            #expect(body.withLock { $0 } == expected)
        }
    }
#endif
