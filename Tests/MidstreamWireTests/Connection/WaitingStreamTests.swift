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

        /// Some take few, and end the connection of who begins many more.
        @Test(arguments: [1, 2, 3])
        func `No more begin than the server takes, though it hasn't told yet`(limit: Int) async throws {
            let transport = wireTransport(configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge))
            let (mayTell, most) = (DispatchSemaphore(value: 0), Locked(0))
            let server = try RawServer.http2 { peer in
                guard peer.readPreface() else { return }
                var begun: [UInt32] = []
                while begun.isEmpty, let frame = peer.readFrame() {
                    if frame.kind == .headers { begun.append(frame.stream) }
                }
                mayTell.wait()
                peer.write(HTTP2Frame.settings((3, UInt32(limit))))
                guard peer.waitForEcho({ kind, stream in if kind == .headers { begun.append(stream) } }) else { return }
                most.withLock { [begun] in $0 = max($0, begun.count) }
                for stream in begun { peer.write(HTTP2Frame.response(stream: stream)) }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response(stream: stream)) }
            }
            let url = server.url
            let requests = (0..<7).map { _ in Task { try await transport.deliver(request(url, .buffered(upTo: 10))) } }
            await eventually { await transport.statistics.activeRequests == 7 }
            // More connections than requests are made where some find another one meanwhile.
            for _ in 0..<100 { mayTell.signal() }
            for request in requests {
                let response = try await request.value
                #expect(response.metrics?.resends == 0)
            }
            #expect(most.withLock { $0 } == limit)
        }

        @Test func `They stay where another has waited too long for its own body`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.response(stream: stream)) }
            }
            let url = server.url
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            let loop = try #require(transport.executor as? EventLoop)
            let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
            defer { feed.finish() }
            let upload = HTTPRequest(.post, url, body: .once(chunks))
            let late = Task { try await transport.send(upload, ExchangeOptions(timeLimit: .seconds(3_600))) }
            await eventually { await onLoop(loop) { loop.active.first?.awaitsBody } == true }
            let waiting = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await eventually { await onLoop(loop) { loop.active.count } == 2 }
            await onLoop(loop) {
                loop.clock.pointee += 7_200_000_000_000
                loop.checkDeadlines()
            }
            #expect(await httpError { try await late.value }?.code == .timeout)
            #expect(try await waiting.value.body.bytes == Array("ok".utf8))
            #expect(server.accepted == 1)
        }

        /// nghttp2 has a line of its own, in which a cancelled one stays, with its number.
        @Test func `They leave nothing when they are cancelled`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let (mayEnd, numbers) = (DispatchSemaphore(value: 0), Locked<[UInt32]>([]))
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: first))
                mayEnd.wait()
                peer.write(HTTP2Frame.data("ok", end: true, stream: first))
                guard let next = peer.nextRequest() else { return }
                numbers.withLock { $0 = [first, next] }
                peer.write(HTTP2Frame.response(stream: next))
            }
            defer { mayEnd.signal() }
            let url = server.url
            let first = try await transport.deliver(request(url, .streamed))
            let loop = try #require(transport.executor as? EventLoop)
            let waiting = (0..<1_000).map { _ in Task { try await transport.deliver(request(url, .buffered(upTo: 10))) } }
            await eventually { await onLoop(loop) { loop.active.count } == 1_001 }
            for task in waiting { task.cancel() }
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            mayEnd.signal()
            #expect(try await first.body.collect() == Array("ok".utf8))
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(numbers.withLock { $0 } == [1, 3])
            #expect(server.accepted == 1)
        }

        /// RFC 9113 §6.8: nothing of them has left.
        @Test func `They outlast any number of connections that take no further ones`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let mayLeave = DispatchSemaphore(value: 0)
            // Each takes one request and, at a time, as many as there may be before the server has told.
            let server = try RawServer.http2 { peer in
                guard peer.begin(HTTP2Frame.settings((3, 100))), let first = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.response(stream: first))
                var taken: [UInt32] = []
                while taken.count < 100, let stream = peer.nextRequest() { taken.append(stream) }
                guard taken.count == 100 else { return }
                mayLeave.wait()
                peer.write(HTTP2Frame.goAway(last: taken[99]) + taken.flatMap { HTTP2Frame.response(stream: $0) })
                peer.connection.waitForEnd()
            }
            let url = server.url
            _ = try await transport.deliver(request(url, .buffered(upTo: 10)))
            let loop = try #require(transport.executor as? EventLoop)
            try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                for _ in 1..<505 {
                    group.addTask { try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes }
                }
                await eventually { await onLoop(loop) { loop.active.count } == 504 }
                for _ in 1...5 { mayLeave.signal() }
                for try await bytes in group { #expect(bytes == Array("ok".utf8)) }
            }
            #expect(server.accepted == 5)
        }

        @Test func `They leave in their order a connection that takes no further ones`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let (mayLeave, requests) = (DispatchSemaphore(value: 0), Locked(0))
            let server = try RawServer.http2 { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                while let stream = peer.nextRequest() {
                    let number = requests.increment()
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    if number == 1 {
                        mayLeave.wait()
                        peer.write(HTTP2Frame.goAway(last: stream))
                    }
                    peer.write(HTTP2Frame.data("\(number)", end: true, stream: stream))
                }
            }
            let url = server.url
            let first = try await transport.deliver(request(url, .streamed))
            let loop = try #require(transport.executor as? EventLoop)
            var waiting: [Task<[UInt8]?, any Error>] = []
            for number in 2...10 {
                waiting.append(Task { try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes })
                await eventually { await onLoop(loop) { loop.active.count } == number }
            }
            mayLeave.signal()
            for (number, task) in zip(2..., waiting) { #expect(try await task.value == Array("\(number)".utf8)) }
            #expect(try await first.body.collect() == Array("1".utf8))
            #expect(server.accepted == 2)
        }

        @Test func `They keep their order when most of them are cancelled`() async throws {
            let transport = wireTransport(
                configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge, maximumConnectionsPerHost: 1))
            let (mayEnd, requests) = (DispatchSemaphore(value: 0), Locked(0))
            let server = try RawServer.http2 { peer in
                guard peer.begin(HTTP2Frame.settings((3, 1))) else { return }
                while let stream = peer.nextRequest() {
                    let number = requests.increment()
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    if number == 1 { mayEnd.wait() }
                    peer.write(HTTP2Frame.data("\(number)", end: true, stream: stream))
                }
            }
            defer { mayEnd.signal() }
            let url = server.url
            let first = try await transport.deliver(request(url, .streamed))
            let loop = try #require(transport.executor as? EventLoop)
            var waiting: [Task<[UInt8]?, any Error>] = []
            for number in 2...61 {
                waiting.append(Task { try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes })
                await eventually { await onLoop(loop) { loop.active.count } == number }
            }
            let kept = waiting.indices.filter { $0 % 3 == 0 }.map { waiting[$0] }
            let cancelled = waiting.indices.filter { $0 % 3 != 0 }.map { waiting[$0] }
            for task in cancelled { task.cancel() }
            for task in cancelled { await #expect(throws: CancellationError.self) { try await task.value } }
            mayEnd.signal()
            for (number, task) in zip(2..., kept) { #expect(try await task.value == Array("\(number)".utf8)) }
            #expect(try await first.body.collect() == Array("1".utf8))
            #expect(server.accepted == 1)
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
                let error = await httpError { try await transport.deliver(request(silent.url, .buffered(upTo: 10))) }
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
            let (mayEnd, connections) = (DispatchSemaphore(value: 0), Locked(0))
            let server = try RawServer.http2 { peer in
                guard connections.increment() == 1 else {
                    if peer.begin() { peer.connection.waitForEnd() }
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
