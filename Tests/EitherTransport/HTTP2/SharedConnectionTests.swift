#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// What goes wrong with one stream of a connection, and what with all. Over TLS, since libcurl before 8.0.0 gives each request
    /// a connection of its own when HTTP/2 is known beforehand.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct SharedConnectionTests {
        private typealias Frame = HTTP2Frame

        private let wire: HTTP2Wire
        private let transport: any LoopTransport

        init() throws {
            wire = try #require(try HTTP2Wire.secure)
            transport = wire.transport()
        }

        static let faultsOfStreams: [Misbehaviour] =
            Misbehaviour.heads + Misbehaviour.messages
            + Misbehaviour.ends.filter { $0.name.hasPrefix("a reset") || $0.name.hasPrefix("a refused") }

        /// RFC 9113 §5.4.2.
        @Test(arguments: Self.faultsOfStreams)
        func `A fault of a stream leaves the others alone`(_ fault: Misbehaviour) async throws {
            let mayFinish = DispatchSemaphore(value: 0)
            let server = try HTTP2Server(tls: wire.tls) { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(Frame.headers([.ok], stream: first) + Frame.data("half", stream: first))
                guard let second = peer.nextRequest() else { return }
                peer.write(fault.bytes(second))
                mayFinish.wait()
                peer.write(Frame.data("half", end: true, stream: first))
                peer.answerAll()
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            _ = try? await transport.deliver(request(server.url, .buffered(upTo: 10)))
            mayFinish.signal()
            #expect(try await first.body.collect() == Array("halfhalf".utf8))
            let next = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(next.body.bytes == Array(HTTP2Server.later.utf8))
        }

        /// RFC 9113 §10.5: streams that are made and reset without an end, by either side.
        @Test func `Streams that are all reset leave nothing behind`() async throws {
            let isOver = Locked(false)
            // Whose connection is given up while it is made leaves it to the next one to make another.
            let server = try RawServer.http2(tls: wire.tls) { peer in
                guard peer.begin() else { return }
                while let stream = peer.nextRequest() {
                    if isOver.withLock({ $0 }) {
                        peer.write(Frame.response(HTTP2Server.later, stream: stream))
                    } else {
                        // Late ones, too, for a stream that is closed by then.
                        peer.write(Frame.reset(8, stream: stream) + Frame.reset(8, stream: stream))
                    }
                }
            }
            let url = server.url
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        let task = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
                        if number.isMultiple(of: 3) { task.cancel() }
                        guard case .failure(let error) = await task.result else {
                            Issue.record("A stream that was reset has an answer.")
                            return
                        }
                        #expect(error is CancellationError || (error as? HTTPError)?.code == .connectionLost, "\(error)")
                    }
                }
            }
            isOver.withLock { $0 = true }
            let next = try await transport.deliver(request(url, .buffered(upTo: 10)))
            #expect(next.body.bytes == Array(HTTP2Server.later.utf8))
            let loop = try #require(transport.executor as? EventLoop)
            #expect(await onLoop(loop) { loop.active.isEmpty })
        }

        /// RFC 9113 §6.8: what is above the last stream wasn't processed; what isn't goes on.
        @Test(arguments: [HTTPMethod.get, .post]) func `GOAWAY ends what is above it alone`(_ method: HTTPMethod) async throws {
            let mayFinish = DispatchSemaphore(value: 0)
            let server = try HTTP2Server(tls: wire.tls) { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(Frame.headers([.ok], stream: first) + Frame.data("half", stream: first))
                guard peer.nextRequest() != nil else { return }
                peer.write(Frame.goAway(last: first))
                mayFinish.wait()
                peer.write(Frame.data("half", end: true, stream: first))
                peer.connection.waitForEnd()
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            var second = request(server.url, .buffered(upTo: 10))
            second.method = method
            if method == .post { second.body = .bytes([1, 2, 3]) }
            do {
                let response = try await transport.deliver(second)
                #expect(method == .get || resendsWhatWasRefused)
                #expect(response.body.bytes == Array(HTTP2Server.later.utf8))
                #expect(response.metrics?.resends == 1)
            } catch let error as HTTPError {
                #expect(error.code == .connectionLost, "\(error)")
                #expect(method == .post || HTTP2Limitation.goAwayIsAnError.applies, "\(error)")
            }
            mayFinish.signal()
            #expect(try await first.body.collect() == Array("halfhalf".utf8))
            let next = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(next.body.bytes == Array(HTTP2Server.later.utf8))
        }

        /// RFC 9113 §5.4.1.
        @Test func `A broken connection ends all of its streams`() async throws {
            let server = try HTTP2Server(tls: wire.tls) { peer in
                guard peer.begin(), let first = peer.nextRequest() else { return }
                peer.write(
                    Frame.headers([.ok, HPACKField("content-length", "8")], stream: first) + Frame.data("half", stream: first))
                guard peer.nextRequest() != nil else { return }
                peer.write(Frame.make(.ping, 0, [1, 2, 3]))
            }
            let first = try await transport.deliver(request(server.url, .streamed))
            // On a kept connection that dies before the answer, a GET is sent again.
            let second = try? await transport.deliver(request(server.url, .buffered(upTo: 10)))
            if let second { #expect(second.body.bytes == Array(HTTP2Server.later.utf8)) }
            let error = await #expect(throws: HTTPError.self) { _ = try await first.body.collect() }
            #expect(error?.code == .connectionLost || error?.code == .protocolViolation, "\(error as Any)")
            let next = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(next.body.bytes == Array(HTTP2Server.later.utf8))
        }
    }
#endif
