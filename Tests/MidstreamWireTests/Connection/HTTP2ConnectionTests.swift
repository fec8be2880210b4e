#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTesting
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct HTTP2ConnectionTests {
        /// RFC 9113 §5.1.2.
        @Test func `Streams beyond the server's limit have a further connection`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let mayAnswer = DispatchSemaphore(value: 0)
            let server = try RawServer.http2 { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                while let stream = peer.nextRequest() {
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    mayAnswer.wait()
                    peer.write(HTTP2Frame.data("ok", end: true, stream: stream))
                }
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            let second = try await transport.deliver(request(server.url, .streamed))
            #expect(server.accepted == 2)
            for _ in 1...2 { mayAnswer.signal() }
            for response in [first, second] { #expect(try await response.body.collect() == Array("ok".utf8)) }
        }

        @Test func `Without a further connection they wait, and come in their order`() async throws {
            var configuration = TransportConfiguration(httpVersions: .http2PriorKnowledge)
            configuration.maximumConnectionsPerHost = 1
            let transport = wireTransport(configuration: configuration)
            let most = Locked(0)
            let server = try RawServer.http2 { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                while let stream = peer.nextRequest() {
                    most.withLock { $0 += 1 }
                    peer.write(HTTP2Frame.response(stream: stream))
                }
            }
            let url = server.url
            try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                for _ in 1...20 {
                    group.addTask { try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes }
                }
                for try await bytes in group { #expect(bytes == Array("ok".utf8)) }
            }
            #expect(server.accepted == 1 && most.withLock { $0 } == 20)
        }

        /// RFC 9113 §6.9: credit for 16 MiB of which nothing else tells.
        @Test func `A server that takes an upload in small parts is no flood`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                let credit = HTTP2Frame.windowUpdate(16_384, stream: 0) + HTTP2Frame.windowUpdate(16_384, stream: 1)
                guard let stream = peer.nextRequest({ kind in if kind == .data { peer.write(credit) } }) else { return }
                peer.write(HTTP2Frame.response(stream: stream))
                peer.connection.waitForEnd()
            }
            let body = HTTPBody.bytes([UInt8](repeating: 7, count: 16 << 20))
            let response = try await transport.deliver(HTTPRequest(.put, server.url, body: body))
            #expect(response.status == 200)
            #expect(try await response.body.collect() == Array("ok".utf8))
        }

        /// A server that answers each request, and notes what kinds of frames come.
        private func answering(noting kinds: Locked<Set<HTTP2Frame.Kind>>) throws -> RawServer {
            try RawServer.http2 { peer in
                guard peer.begin() else { return }
                while let stream = peer.nextRequest({ kind in kinds.withLock { _ = $0.insert(kind) } }) {
                    peer.write(HTTP2Frame.response(stream: stream))
                }
            }
        }

        /// RFC 9113 §8.1: both sides have ended the stream.
        @Test func `What is whole both ways isn't reset`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let kinds = Locked<Set<HTTP2Frame.Kind>>([])
            let server = try answering(noting: kinds)
            for delivery in deliveries + deliveries {
                let response = try await transport.deliver(request(server.url, delivery))
                #expect(try await response.body.collect() == Array("ok".utf8))
            }
            #expect(kinds.withLock { $0.contains(.headers) && !$0.contains(.reset) })
            #expect(server.accepted == 1)
        }

        /// REFUSED_STREAM and HTTP_1_1_REQUIRED, of what has been processed. A PROTOCOL_ERROR is the server's reason, as when a reader is too
        /// slow for it, and no fault of what it has sent.
        @Test(arguments: [1, 7, 13] as [UInt32], deliveries)
        func `A response that has begun isn't asked for again`(_ code: UInt32, _ delivery: BodyDelivery) async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("ok", stream: stream))
                peer.write(HTTP2Frame.reset(code, stream: stream))
                peer.answerAll()
            }
            let error = await httpError { try await transport.deliver(request(server.url, delivery)).body.collect() }
            #expect(error?.code == .connectionLost && error?.phase == .answered)
            #expect(server.accepted == 1)
        }

        @Test func `A head that is too large is the request's fault, and the connection stays`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnections: 1))
            let server = try HTTP2Server()
            let url = server.url
            for _ in 1...3 {
                let error = await #expect(throws: HTTPError.self) {
                    let large = HTTPHeaders(lines: Array("x-a:\(String(repeating: "a", count: 1 << 20))\n".utf8))
                    _ = try await transport.deliver(HTTPRequest(.get, url, headers: large))
                }
                #expect(error?.code == .invalidRequest && error?.phase == .notSent)
                let response = try await transport.deliver(request(url, .buffered(upTo: 10)))
                #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            }
            #expect(server.accepted == 1)
        }

        @Test func `Trailers that are too large are the request's fault, and the connection stays`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let kinds = Locked<Set<HTTP2Frame.Kind>>([])
            let server = try answering(noting: kinds)
            let url = server.url
            let error = await #expect(throws: HTTPError.self) {
                var sent = HTTPRequest(.post, url, body: .stream { chunks("a") })
                let large = HTTPHeaders(lines: Array("x-a:\(String(repeating: "a", count: 1 << 20))\n".utf8))
                sent.trailers = { large }
                _ = try await transport.deliver(sent)
            }
            #expect(error?.code == .invalidRequest)
            #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
            #expect(kinds.withLock { $0.contains(.reset) })
            #expect(server.accepted == 1)
        }

        /// It waits for a connection of its own, and closing gives it the place of another one.
        @Test func `A head that turns out to be too large while the transport is closed is told of`() async throws {
            let resolver = HoldingResolver(holding: 2)
            defer { resolver.gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, httpVersions: .http2PriorKnowledge))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                peer.connection.waitForEnd()
            }
            let url = "http://h.invalid:\(server.port)/"
            let first = try await transport.deliver(request(url, .streamed))
            let second = Task {
                let large = HTTPHeaders(lines: Array("x-a:\(String(repeating: "a", count: 1 << 20))\n".utf8))
                return try await transport.deliver(HTTPRequest(.get, url, headers: large))
            }
            await resolver.gate.reached()
            transport.close()
            let error = await #expect(throws: HTTPError.self) { _ = try await second.value }
            #expect(error?.code == .invalidRequest)
            await #expect(throws: HTTPError.self) { _ = try await first.body.collect() }
        }

        /// Making room for the other connection closes the one that was refused on.
        @Test func `A refusal by the only connection that there may be leads to another`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnections: 1))
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                // HTTP_1_1_REQUIRED.
                peer.write(HTTP2Frame.reset(13, stream: stream))
                peer.connection.waitForEnd()
            }
            for _ in 1...2 {
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            }
            #expect(server.accepted == 2)
        }

        @Test(arguments: [1, 256]) func `What a lost connection leaves goes out on one other`(_ limit: Int) async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: limit))
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: first))
                for _ in 1...10 { guard peer.nextRequest() != nil else { return } }
            }
            let url = server.url
            let first = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(first.body.bytes == Array("first".utf8))
            try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                for _ in 1...10 {
                    group.addTask { try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes }
                }
                for try await bytes in group { #expect(bytes == Array(HTTP2Server.later.utf8)) }
            }
            #expect(server.accepted == 2)
        }

        /// HTTP_1_1_REQUIRED, of whatever is asked for.
        @Test func `A server that wants HTTP/1.1 is asked by HTTP/2 once`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try HTTP2Server { peer in
                guard peer.begin() else { return }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.reset(13, stream: stream)) }
            }
            for _ in 1...10 {
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            }
            #expect(server.accepted == 2)
        }

        /// HTTP_1_1_REQUIRED, of the connection (RFC 9113 §7).
        @Test func `A server that wants no HTTP/2 any more is spoken to by HTTP/1.1`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try RawServer.http2 { peer in
                guard peer.speaksHTTP2 else {
                    while peer.connection.readHead() != nil { peer.connection.write(RawServer.okResponse) }
                    return
                }
                guard peer.begin(), peer.nextRequest() != nil else { return }
                peer.write(HTTP2Frame.goAway(last: 0, 13))
                peer.connection.waitForEnd()
            }
            for _ in 1...3 {
                #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
            }
            #expect(server.accepted == 2)
        }

        /// REFUSED_STREAM.
        @Test func `What is refused and sent again is charged to the retry budget`() async throws {
            let client = testClient(transport: HTTP2Wire(tls: nil).transport())
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.reset(7, stream: stream))
                peer.connection.waitForEnd()
            }
            let response = try await client.send(HTTPRequest(server.url))
            #expect(response.metrics?.resends == 1)
            #expect(client.retryBudget?.retries == 1)
        }

        /// REFUSED_STREAM, by every connection.
        @Test(arguments: deliveries) func `So is what is refused in the end`(_ delivery: BodyDelivery) async throws {
            let client = testClient(transport: HTTP2Wire(tls: nil).transport())
            let server = try RawServer.http2 { peer in
                guard peer.begin() else { return }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.reset(7, stream: stream)) }
            }
            let url = server.url
            await #expect(throws: HTTPError.self) {
                let sent = HTTPRequest(url)
                if delivery == .streamed { _ = try await client.stream(sent) } else { _ = try await client.send(sent) }
            }
            #expect(client.retryBudget?.retries == 3)
        }

        /// RFC 9113 §6.8, for what hasn't been sent.
        @Test func `GOAWAY ends the waiting for a free stream`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(
                    httpVersions: .http2PriorKnowledge, headTimeout: .seconds(120), maximumConnectionsPerHost: 1))
            let (mayLeave, mayFinish) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                mayLeave.wait()
                peer.write(HTTP2Frame.goAway(last: stream))
                mayFinish.wait()
                peer.write(HTTP2Frame.data("ok", end: true, stream: stream))
                peer.connection.waitForEnd()
            }
            let url = server.url
            let first = try await transport.deliver(request(url, .streamed))
            let loop = try #require(transport.executor as? EventLoop)
            let second = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count } == 2 }
            mayLeave.signal()
            let response = try await second.value
            #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(response.metrics?.resends == 0)
            #expect(server.accepted == 2)
            mayFinish.signal()
            #expect(try await first.body.collect() == Array("ok".utf8))
        }

        /// RFC 9113 §6.7: a path that was forgotten on the way.
        @Test func `A connection whose server is silent is given up, and the request sent over another`() async throws {
            var configuration = TransportConfiguration(httpVersions: .http2PriorKnowledge)
            configuration.usesCallersThreads = false
            // Time enough for the first request and for the other connection, on which an answer is wanted as well.
            let transport = wireTransport(
                WireSettings(configuration, silence: HTTP2Silence(longest: 0, longestAnswer: 5_000_000_000)))
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: stream))
                peer.connection.waitForEnd()
            }
            let first = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(first.body.bytes == Array("first".utf8))
            let second = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(second.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(second.metrics?.resends == 1)
            #expect(server.accepted == 2)
        }

        /// RFC 9113 §6.7: the PING waits behind the upload.
        @Test func `A server that takes an upload slowly isn't silent`() async throws {
            let transport = wireTransport(
                WireSettings(
                    TransportConfiguration(httpVersions: .http2PriorKnowledge),
                    silence: HTTP2Silence(longest: 0, longestAnswer: 120_000_000_000)))
            let (mayRead, hasRead, mayAnswer) = (DispatchSemaphore(value: 0), Gate(), DispatchSemaphore(value: 0))
            let size = 64 << 20
            let server = try RawServer.http2 { peer in
                let window = HTTP2Frame.windowUpdate(1 << 30, stream: 0)
                guard peer.begin(HTTP2Frame.settings((4, 1 << 30)) + window) else { return }
                mayRead.wait()
                var (count, whole) = (0, [UInt32]())
                // More than the system keeps of what nobody reads.
                while count < size / 2, let (kind, flags, stream, payload) = peer.readFrame() {
                    count += payload.count
                    if kind == .headers, flags & HTTP2Frame.endStream != 0 { whole.append(stream) }
                }
                hasRead.open()
                mayAnswer.wait()
                for stream in whole { peer.write(HTTP2Frame.response(stream: stream)) }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response(stream: stream)) }
            }
            let url = server.url
            let put = HTTPRequest(.put, url, body: .bytes([UInt8](repeating: 7, count: size)))
            let upload = Task { try await transport.deliver(put).body.collect() }
            let loop = try #require(transport.executor as? WireLoop)
            let find: @Sendable () -> HTTP2Connection? = { (loop.active.first?.wire.connection as? HTTP2Stream)?.connection }
            await eventually { await onLoop(loop) { find()?.channel.canWrite } == false }
            let connection = try #require(await onLoop(loop, find))
            let other = Task { try await transport.deliver(request(url, .buffered(upTo: 10))).body.collect() }
            await eventually { await onLoop(loop) { loop.active.count } == 2 }
            mayRead.signal()
            await hasRead.wait()
            // As when the time for an answer is over.
            await onLoop(loop) { connection.isWoken() }
            let isLost = await onLoop(loop) { connection.channel.isClosed }
            mayAnswer.signal()
            try #require(!isLost)
            #expect(try await upload.value == Array("ok".utf8))
            #expect(try await other.value == Array("ok".utf8))
            #expect(server.accepted == 1)
        }

        /// Without a PING: its server hasn't been silent for long.
        @Test(arguments: deliveries)
        func `A connection whose server was too slow for the client is given up`(_ delivery: BodyDelivery) async throws {
            let client = testClient(transport: HTTP2Wire(tls: nil).transport())
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response("first", stream: first))
                while peer.nextRequest() != nil {}
            }
            let url = server.url
            #expect(try await client.send(HTTPRequest(url)).body.bytes == Array("first".utf8))
            let error = await #expect(throws: HTTPError.self) {
                var hasty = HTTPRequest(url)
                hasty.timeout = .seconds(2)
                if delivery == .streamed { _ = try await client.stream(hasty) } else { _ = try await client.send(hasty) }
            }
            #expect(error?.code == .timeout && error?.phase == .maybeProcessed)
            #expect(try await client.send(HTTPRequest(url)).body.bytes == Array(HTTP2Server.later.utf8))
            #expect(server.accepted == 2)
        }

        @Test func `A connection that brings no more of a body in time is given up`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: first) + HTTP2Frame.data("a", stream: first))
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response("again", stream: stream)) }
            }
            let url = server.url
            let body = try await transport.deliver(HTTPRequest(url)).body
            let chunks = ChunkReader(body)
            #expect(try await chunks.next() == Array("a".utf8))
            body.close(late: HTTPError(.timeout, phase: .answered))
            let next = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(next.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(server.accepted == 2)
        }

        @Test func `A connection whose reader is slow isn't given up`() async throws {
            let transport = HTTP2Wire(tls: nil).transport()
            let server = try HTTP2Server { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: first) + HTTP2Frame.data("a", stream: first))
                // Before the answer to what follows.
                if let second = peer.nextRequest() {
                    peer.write(HTTP2Frame.data("b", stream: first) + HTTP2Frame.response("again", stream: second))
                }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response("again", stream: stream)) }
            }
            let url = server.url
            let body = try await transport.deliver(HTTPRequest(url)).body
            let chunks = ChunkReader(body)
            #expect(try await chunks.next() == Array("a".utf8))
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            body.close(late: HTTPError(.timeout, phase: .answered))
            #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes == Array("again".utf8))
            #expect(server.accepted == 1)
        }

        @Test func `A server that answers is kept`() async throws {
            let settings = WireSettings(
                TransportConfiguration(httpVersions: .http2PriorKnowledge),
                silence: HTTP2Silence(longest: 0, longestAnswer: 120_000_000_000))
            let transport = wireTransport(settings)
            let server = try HTTP2Server()
            for _ in 1...3 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == 1)
        }
    }
#endif
