#if os(Linux)
    import Dispatch
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    /// Hosts that have spoken HTTP/2, over connections that requests shared, and want HTTP/1.1.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HTTP1FallbackTests {
        /// HTTP_1_1_REQUIRED, by a host that has been known to share connections.
        @Test(arguments: [(1, nil), (nil, 1)] as [(Int?, Int?)])
        func `The limits hold again for a host that wants HTTP/1.1`(_ ofHost: Int?, _ ofAll: Int?) async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: ofHost, maximumConnections: ofAll))
            let mayFinish = DispatchSemaphore(value: 0)
            let server = try RawServer.http2 { peer in
                guard peer.speaksHTTP2 else {
                    while peer.connection.readHead() != nil {
                        peer.connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
                        mayFinish.wait()
                        peer.connection.write("ok")
                    }
                    return
                }
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: first))
                guard let second = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.reset(13, stream: second))
                peer.connection.waitForEnd()
            }
            let url = server.url
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            let first = try await transport.deliver(request(url, .streamed))
            let loop = try #require(transport.executor as? EventLoop)
            let second = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count + loop.admission.waitingCount } == 2 }
            #expect(await onLoop(loop) { loop.admission.waitingCount } == 1)
            for _ in 1...2 { mayFinish.signal() }
            #expect(try await first.body.collect() == Array("ok".utf8))
            #expect(try await second.value.body.bytes == Array("ok".utf8))
            #expect(server.accepted == 2)
        }

        @Test(arguments: [(1, nil), (nil, 1)] as [(Int?, Int?)])
        func `The limits hold again for all requests of a host that wants HTTP/1.1`(_ ofHost: Int?, _ ofAll: Int?) async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: ofHost, maximumConnections: ofAll))
            let mayAnswer = DispatchSemaphore(value: 0)
            let server = try RawServer.http2 { peer in
                guard peer.speaksHTTP2 else {
                    while peer.connection.readRequest() != nil {
                        mayAnswer.wait()
                        peer.connection.write(RawServer.okResponse)
                    }
                    return
                }
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: first))
                let others = (1...5).compactMap { _ in peer.nextRequest() }
                peer.write(others.flatMap { HTTP2Frame.reset(13, stream: $0) })
                peer.connection.waitForEnd()
            }
            let url = server.url
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            let loop = try #require(transport.executor as? EventLoop)
            try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                for _ in 1...5 {
                    group.addTask {
                        try await transport.deliver(HTTPRequest(.post, url, body: .bytes([1]))).body.collect()
                    }
                }
                await eventually { await onLoop(loop) { loop.active.count == 1 && loop.admission.waitingCount == 4 } }
                for _ in 1...5 { mayAnswer.signal() }
                for try await body in group { #expect(body == Array("ok".utf8)) }
            }
            #expect(server.accepted == 2)
        }
    }
#endif
