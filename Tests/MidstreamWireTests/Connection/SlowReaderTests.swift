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
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let piece = String(repeating: "a", count: 16_000)
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                for place in 1...40 { peer.write(HTTP2Frame.data(piece, end: place == 40, stream: stream)) }
                // The client's settings and windows may be unread.
                peer.connection.endSending()
                peer.connection.waitForEnd()
            }
            let response = try await transport.deliver(request(server.url, .streamed))
            let loop = try #require(transport.executor as? WireLoop)
            await eventually { await onLoop(loop) { loop.channels.count } == 0 }
            #expect(await transport.statistics.counts.openConnections == 0)
            #expect(try await response.body.collect().count == 640_000)
        }

        /// RFC 9113 §5.2: its stream has 1 MiB, and others have theirs.
        @Test func `A reader that is behind stops its own stream alone`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let (isFull, credits) = (Gate(), Locked(0))
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                let piece = String(repeating: "a", count: 16 << 10)
                peer.write(HTTP2Frame.headers([.ok], stream: first))
                for _ in 0..<64 { peer.write(HTTP2Frame.data(piece, stream: first)) }
                // Credit may come behind the first echo, which is more urgent.
                for _ in 0..<2 {
                    _ = peer.waitForEcho { kind, stream in
                        if kind == .windowUpdate, stream == first { credits.withLock { $0 += 1 } }
                    }
                }
                isFull.open()
                guard let second = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: second))
                while let (kind, _, stream, _) = peer.readFrame() {
                    guard kind == .windowUpdate, stream == first else { continue }
                    peer.write(HTTP2Frame.data(piece, end: true, stream: first))
                    return peer.connection.waitForEnd()
                }
            }
            let held = try await transport.deliver(request(server.url, .streamed))
            await isFull.wait()
            #expect(credits.withLock { $0 } == 0)
            let other = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(other.body.bytes == Array("ok".utf8))
            #expect(try await held.body.collect().count == 65 << 14)
            #expect(server.accepted == 1)
        }

        /// RFC 9113 §5.2: what has come is all that the server may send before the reader goes on.
        @Test func `A reader makes room for what it takes, and not for what waits behind that`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let (isFull, isCredited, credit) = (Gate(), Gate(), Locked(0))
            let server = try RawServer.http2 { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let piece = String(repeating: "a", count: 16 << 10)
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                for _ in 0..<64 { peer.write(HTTP2Frame.data(piece, stream: stream)) }
                guard peer.waitForEcho() else { return }
                isFull.open()
                while let (kind, _, credited, payload) = peer.readFrame() {
                    guard kind == .windowUpdate, credited == stream else { continue }
                    let count = payload.reduce(0) { $0 << 8 | Int($1) }
                    credit.withLock { $0 = count }
                    isCredited.open()
                    peer.write(HTTP2Frame.data(piece, end: true, stream: stream))
                    return peer.connection.waitForEnd()
                }
            }
            let response = try await transport.deliver(request(server.url, .streamed))
            await isFull.wait()
            var count = 0
            for try await chunk in response.body {
                if count == 0 {
                    await isCredited.wait()
                    // A slice is taken as a whole.
                    #expect(credit.withLock { $0 } - chunk.count <= BodyStream.limit + (64 << 10))
                }
                count += chunk.count
            }
            #expect(count == 65 << 14)
        }
    }
#endif
