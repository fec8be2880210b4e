#if os(Linux)
    import Dispatch
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    @testable import MidstreamLoop

    /// Requests that wait on a connection of HTTP/2 until its server takes further streams.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct WaitingStreamTests {
        @Test func `They aren't sent to a server that was too slow for another`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    httpVersions: .http2PriorKnowledge, idleTimeout: .milliseconds(100), maximumConnectionsPerHost: 1))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response("slow", stream: stream)) }
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            let second = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(second.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(second.metrics?.resends == 0)
            #expect(server.accepted == 2)
            let error = await #expect(throws: HTTPError.self) { _ = try await first.body.collect() }
            #expect(error?.code == .timeout)
        }

        /// The one before them has no limit, since its reader is behind.
        @Test func `The time for a body doesn't count before it can be sent`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    httpVersions: .http2PriorKnowledge, idleTimeout: .milliseconds(300), maximumConnectionsPerHost: 1))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let stream = peer.nextRequest() else { return }
                let piece = HTTP2Frame.data(String(repeating: "a", count: 16 << 10), stream: stream)
                peer.write(HTTP2Frame.headers([.ok], stream: stream) + Array(repeatElement(piece, count: 20).joined()))
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response(stream: stream)) }
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            let post = HTTPRequest(.post, server.url, body: .bytes([1, 2, 3]))
            let second = Task { try await transport.deliver(post).body.collect() }
            // Twice the time that a body has.
            for _ in 0..<2 {
                let silent = try HTTP2Server { peer in
                    guard peer.begin(), let stream = peer.nextRequest() else { return }
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    _ = peer.nextRequest()
                }
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await transport.deliver(request(silent.url, .buffered(upTo: 10)))
                }
                #expect(error?.code == .timeout)
            }
            first.body.close()
            #expect(try await second.value == Array("ok".utf8))
            #expect(server.accepted == 1)
        }

        /// Nothing of it was to be looked at any more, since all of it had left.
        @Test func `A body that has to be sent again may not move for as long as the first time`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, idleTimeout: .milliseconds(300)))
            let (mayEnd, isFirst) = (DispatchSemaphore(value: 0), Locked(true))
            let server = try RawServer { connection in
                let peer = HTTP2Peer(connection)
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isFirst else {
                    if peer.begin() { connection.waitForEnd() }
                    return
                }
                let window = HTTP2Frame.windowUpdate(1 << 20, stream: 0)
                guard peer.begin(HTTP2Frame.settings((4, 1 << 20)) + window), let get = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: get))
                _ = peer.nextRequest()
                mayEnd.wait()
            }
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let loop = try #require(transport.executor as? EventLoop)
            let put = HTTPRequest(.put, server.url, body: .bytes([UInt8](repeating: 1, count: 70_000)))
            let second = Task { try await transport.deliver(put) }
            await eventually { await onLoop(loop) { loop.active.count == 1 && loop.nextDeadlineCheck == .max } }
            mayEnd.signal()
            let error = await #expect(throws: HTTPError.self) { _ = try await second.value }
            #expect(error?.code == .timeout && server.accepted == 2)
        }
    }
#endif
