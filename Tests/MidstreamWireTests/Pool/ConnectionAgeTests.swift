#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite("A connection that is too old", .leavesNothing, .timeLimit(.minutes(10))) struct ConnectionAgeTests {
        private func transport(_ versions: TransportConfiguration.HTTPVersions, age: Duration?) -> WireTransport {
            wireTransport(configuration: TransportConfiguration(httpVersions: versions, maximumConnectionAge: age))
        }

        @Test("has no further request over HTTP/1.1", arguments: [nil, .nanoseconds(1), .zero] as [Duration?])
        func http1(age: Duration?) async throws {
            let server = try RawServer.ok()
            let transport = transport(.http1Only, age: age)
            for _ in 1...3 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == (age == nil ? 1 : 3))
            #expect(await transport.statistics.openConnections == (age == nil ? 1 : 0))
        }

        @Test("has no further request over HTTP/2", arguments: [nil, .nanoseconds(1), .zero] as [Duration?])
        func http2(age: Duration?) async throws {
            let server = try HTTP2Server()
            let transport = transport(.http2PriorKnowledge, age: age)
            for _ in 1...3 { _ = try await transport.deliver(request(server.url, .buffered(upTo: 10))) }
            #expect(server.accepted == (age == nil ? 1 : 3))
            await eventually { await transport.statistics.openConnections == (age == nil ? 1 : 0) }
        }

        @Test("ends only when the requests do that are under way on it")
        func underWay() async throws {
            let (mayAnswer, hasEnded) = (DispatchSemaphore(value: 0), Locked(false))
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                peer.write(HTTP2Frame.headers([.ok], stream: stream))
                mayAnswer.wait()
                peer.write(HTTP2Frame.data("first", end: true, stream: stream))
                _ = peer.nextRequest()
                hasEnded.withLock { $0 = true }
            }
            let transport = transport(.http2PriorKnowledge, age: .nanoseconds(1))
            let first = try await transport.deliver(request(server.url, .streamed))
            let second = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect(second.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(server.accepted == 2)
            mayAnswer.signal()
            #expect(try await first.body.collect() == Array("first".utf8))
            await eventually { hasEnded.withLock { $0 } }
        }

        @Test("isn't taken by a request that waits for another when a stream on it ends")
        func waiting() async throws {
            let mayEnd = DispatchSemaphore(value: 0)
            let server = try HTTP2Server { peer in
                guard peer.begin(HTTP2Frame.settings((3, 2))) else { return }
                var streams: [UInt32] = []
                for _ in 1...2 {
                    guard let stream = peer.nextRequest() else { return }
                    peer.write(HTTP2Frame.headers([.ok], stream: stream))
                    streams.append(stream)
                }
                for stream in streams {
                    mayEnd.wait()
                    peer.write(HTTP2Frame.data("old", end: true, stream: stream))
                }
                peer.answerAll()
            }
            let resolver = HoldingResolver(holding: 2)
            defer { resolver.gate.open() }
            let transport = wireTransport(
                configuration: TransportConfiguration(resolver: resolver.addresses, httpVersions: .http2PriorKnowledge))
            let loop = try #require(transport.executor as? WireLoop)
            let url = "http://h.invalid:\(server.port)/"
            var streamed: [HTTPResponse] = []
            for _ in 1...2 { streamed.append(try await transport.deliver(request(url, .streamed))) }
            let third = Task { try await transport.deliver(request(url, .buffered(upTo: 10))) }
            await resolver.gate.reached()
            await onLoop(loop) {
                for transfer in loop.active {
                    if let stream = transfer.wire.connection as? HTTP2Stream { stream.connection.limitOfAge = 0 }
                }
            }
            mayEnd.signal()
            #expect(try await streamed[0].body.collect() == Array("old".utf8))
            #expect(await onLoop(loop) { loop.active.contains { $0.wire.connection is Dial } })
            mayEnd.signal()
            resolver.gate.open()
            #expect(try await third.value.body.bytes == Array(HTTP2Server.later.utf8))
            #expect(try await streamed[1].body.collect() == Array("old".utf8))
            #expect(server.accepted == 2)
        }
    }
#endif
