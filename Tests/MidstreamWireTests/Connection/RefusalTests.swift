#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamTransport
    import MidstreamWire
    import TestSupport
    import Testing

    /// What a server of HTTP/2 says not to have processed (RFC 9113 §8.7).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct RefusalTests {
        /// REFUSED_STREAM, HTTP_1_1_REQUIRED and GOAWAY.
        @Test(arguments: [HTTP2Frame.reset(7, stream: 1), HTTP2Frame.reset(13, stream: 1), HTTP2Frame.goAway(last: 0)])
        func `What is refused, and finds no other connection, hasn't been sent`(_ refusal: [UInt8]) async throws {
            let server = try RawServer.http2 { peer in
                guard peer.begin(), peer.nextRequest() != nil else { return }
                peer.write(refusal)
                peer.connection.waitForEnd()
            }
            let lookups = Locked(0)
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    resolver: { _ in lookups.increment() == 1 ? ["127.0.0.1"] : [] }, httpVersions: .http2PriorKnowledge))
            let post = HTTPRequest(.post, "http://h.invalid:\(server.port)/", body: .bytes([1, 2, 3]))
            let error = await #expect(throws: HTTPError.self) { _ = try await transport.deliver(post) }
            #expect(error?.code == .nameResolution)
            #expect(error?.phase == .notSent)
            #expect(server.accepted == 1)
        }

        /// HTTP_1_1_REQUIRED, of a body that has been begun with.
        @Test func `A server that wants HTTP/1.1 for an upload is asked by HTTP/2 once`() async throws {
            for wire in try HTTP2Wire.all() {
                let transport = wire.transport()
                let server = try HTTP2Server(tls: wire.tls) { peer in
                    guard peer.begin() else { return }
                    while let frame = peer.readFrame() {
                        if frame.kind == .headers { peer.write(HTTP2Frame.reset(13, stream: frame.stream)) }
                    }
                }
                let put = HTTPRequest(.put, server.url, body: .stream { chunks("abc") })
                let error = await #expect(throws: HTTPError.self) { _ = try await transport.deliver(put) }
                #expect(error?.code == .connectionLost && error?.phase == .notSent)
                let response = try await transport.deliver(put)
                #expect(response.version == .http1_1)
                #expect(try await response.body.collect() == Array(HTTP2Server.later.utf8))
                #expect(server.accepted == 2)
            }
        }

        /// HTTP_1_1_REQUIRED, while another connection is made since the first one has no room.
        @Test func `A connection that was begun before the server wanted HTTP/1.1 isn't used for HTTP/2`() async throws {
            let resolver = HoldingResolver(holding: 2)
            defer { resolver.gate.open() }
            let hasUpload = Gate()
            let mayRefuse = DispatchSemaphore(value: 0)
            defer { mayRefuse.signal() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, httpVersions: .http2PriorKnowledge))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: first))
                guard let upload = peer.nextRequest() else { return }
                hasUpload.open()
                mayRefuse.wait()
                peer.write(HTTP2Frame.reset(13, stream: upload))
                peer.connection.waitForEnd()
            }
            let url = "http://h.invalid:\(server.port)/"
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            let upload = Task { try await transport.deliver(HTTPRequest(.put, url, body: .stream { chunks("abc") })) }
            await hasUpload.wait()
            let other = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await resolver.gate.reached()
            mayRefuse.signal()
            let error = await #expect(throws: HTTPError.self) { _ = try await upload.value }
            #expect(error?.code == .connectionLost)
            resolver.gate.open()
            let response = try await other.value
            #expect(response.version == .http1_1)
            #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(server.accepted == 3)
        }

        @Test func `What is refused, and then lost, goes out once more`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: first))
                guard let second = peer.nextRequest() else { return }
                // REFUSED_STREAM.
                peer.write(HTTP2Frame.reset(7, stream: second))
                _ = peer.nextRequest()
            }
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(response.metrics?.resends == 2)
            #expect(server.accepted == 2)
        }

        /// RFC 9113 §5.4.1 has the server close it, which not every one does.
        @Test func `A connection that the server has ended for an error is over`() async throws {
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest(), let second = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: first) + HTTP2Frame.goAway(last: second, 9))
                peer.connection.waitForEnd()
            }
            let transport = HTTP2Wire(tls: nil).transport()
            var post = HTTPRequest(.post, server.url, body: .bytes([1, 2, 3]))
            post.delivery = .buffered(upTo: 10)
            let sent = post
            let outcomes = await withTaskGroup(of: Result<HTTPResponse, any Error>.self) { group in
                for _ in 1...2 { group.addTask { await Task { try await transport.deliver(sent) }.result } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { (try? $0.get().body.bytes) == Array("ok".utf8) } == 1)
            let error = outcomes.lazy.compactMap(\.httpError).first
            #expect(error?.code == .connectionLost && error?.phase == .maybeProcessed)
            #expect(error?.message == "The server has ended the connection: COMPRESSION_ERROR.")
        }

        @Test func `What a server has begun to answer when it asks for HTTP 1.1 is awaited`() async throws {
            let mayEnd = DispatchSemaphore(value: 0)
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: first) + HTTP2Frame.goAway(last: first, 13))
                mayEnd.wait()
                peer.write(HTTP2Frame.data("ok", end: true, stream: first))
                peer.connection.waitForEnd()
            }
            let url = server.url
            let response = try await HTTP2Wire(tls: nil).transport().deliver(request(url, .streamed))
            mayEnd.signal()
            #expect(try await response.body.collect() == Array("ok".utf8))
        }

        /// RFC 9112 §9.3: a server that says to keep the connection may close it all the same.
        @Test(arguments: [
            (307, 65_536, 2), (401, 65_536, 2), (403, 65_536, 2), (503, 65_536, 2), (200, 65_536, 1), (503, 1_000, 1),
        ])
        func `What follows the refusal of a large upload takes a new connection`(
            _ status: Int, _ size: Int, _ connections: Int
        ) async throws {
            let server = try RawServer { connection in
                while connection.readRequest() != nil { connection.write("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n") }
            }
            let transport = wireTransport()
            for _ in 1...2 {
                let put = HTTPRequest(.put, server.url, body: .bytes([UInt8](repeating: 7, count: size)))
                #expect(try await transport.deliver(put).status.code == status)
            }
            #expect(server.accepted == connections)
        }
    }
#endif
