#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct SlowReaderTests {
        /// RFC 9113 §5.1: what came before the connection's end is whole.
        @Test func `A response over HTTP/2 outlives its connection`() async throws {
            let wire = HTTP2Wire(tls: nil)
            let transport = wire.transport()
            let server = try RawServer { connection in
                let peer = HTTP2Peer(connection)
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let piece = String(repeating: "a", count: 16_000)
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                for place in 1...40 { peer.write(HTTP2Frame.data(piece, end: place == 40, stream: stream)) }
                // The client's settings and windows may be unread.
                connection.endSending()
                connection.waitForEnd()
            }
            let response = try await transport.deliver(request(server.url, .streamed))
            let loop = try #require(transport.executor as? WireLoop)
            await eventually { await onLoop(loop) { loop.channels.count } == 0 }
            #expect(try await response.body.collect().count == 640_000)
        }
    }
#endif
