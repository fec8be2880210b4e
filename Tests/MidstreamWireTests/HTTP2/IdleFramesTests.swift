#if os(Linux)
    import Foundation
    import MidstreamCore
    import TestSupport
    import Testing

    /// RFC 9113 §10.5. `HostileHTTP2Tests` has floods without an end.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct IdleFramesTests {
        static let kinds = [
            Flood("WINDOW_UPDATE", HTTP2Frame.windowUpdate(1, stream: 0)),
            Flood("PRIORITY", HTTP2Frame.make(.priority, stream: 1, [0, 0, 0, 0, 1])),
            Flood("DATA without bytes", HTTP2Frame.data("", stream: 1)),
            Flood("unknown frames", HTTP2Frame.make(.unknown, stream: 1, [1, 2, 3])),
        ]

        @Test(arguments: kinds, [1_000, 1_001])
        func `After a head a thousand frames may come that bring nothing`(_ kind: Flood, _ count: Int) async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let frames = Array(repeatElement(kind.frames, count: count).joined())
                peer.write(HTTP2Frame.headers([.ok], stream: stream) + frames)
                // They would make up for the last frame if both were read at once.
                if count <= 1_000 {
                    let end = HTTP2Frame.endHeaders | HTTP2Frame.endStream
                    peer.write(HTTP2Frame.headers([HPACKField("x-sum", "1")], end, stream: stream))
                }
                peer.connection.waitForEnd()
            }
            try await expectAnswer(of: server, by: transport, isFlood: count > 1_000)
        }

        private func expectAnswer(of server: RawServer, by transport: any LoopTransport, isFlood: Bool) async throws {
            let url = server.url
            let result = await Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }.result
            if isFlood {
                #expect(result.httpError?.code == .protocolViolation, "\(result)")
            } else {
                #expect(try result.get().status == 200)
            }
            #expect(server.accepted == 1)
        }

        /// nghttp2 ignores them without a word.
        @Test(arguments: [1_000, 1_001])
        func `A thousand frames may come of a response that has ended`(_ count: Int) async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: first))
                guard let second = peer.nextRequest() else { return }
                peer.write(Array(repeatElement(HTTP2Frame.data("", stream: first), count: count).joined()))
                if count <= 1_000 { peer.write(HTTP2Frame.response(stream: second)) }
                peer.connection.waitForEnd()
            }
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            try await expectAnswer(of: server, by: transport, isFlood: count > 1_000)
        }

        @Test func `What is on its way of a response that was given up is no flood`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let isGivenUp = DispatchSemaphore(value: 0)
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: first))
                isGivenUp.wait()
                let piece = HTTP2Frame.data(String(repeating: "a", count: 16 << 10), stream: first)
                for _ in 0..<60 { peer.write(piece) }
                peer.answerAll()
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            first.body.close()
            isGivenUp.signal()
            let second = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(second.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(server.accepted == 1)
        }
    }
#endif
