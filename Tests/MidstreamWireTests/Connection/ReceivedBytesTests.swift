#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite("Bytes that are received", .leavesNothing, .timeLimit(.minutes(10))) struct ReceivedBytesTests {
        @Test("count with the framing of chunks, trailers and interim heads", arguments: deliveries)
        func http1(delivery: BodyDelivery) async throws {
            let answer =
                "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n"
            let server = try RawServer.answering { _ in answer }
            let response = try await wireTransport().deliver(request(server.url, delivery))
            #expect(try await response.body.collect() == Array("abcde".utf8))
            let metrics = try #require(response.metrics)
            #expect(metrics.bytesReceived == Int64(answer.utf8.count))
            #expect(metrics.responseBodyBytes == 5)
        }

        @Test("count with the heads of HTTP/2's frames, as they are packed", arguments: deliveries)
        func http2(delivery: BodyDelivery) async throws {
            let answer = Locked(0)
            let server = try HTTP2Server { peer in
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                let frames =
                    HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("abc", stream: stream)
                    + HTTP2Frame.data("de", end: true, stream: stream)
                answer.withLock { $0 = frames.count }
                peer.write(frames)
                _ = peer.nextRequest()
            }
            let response = try await HTTP2Wire(tls: nil).transport().deliver(request(server.url, delivery))
            #expect(try await response.body.collect() == Array("abcde".utf8))
            let metrics = try #require(response.metrics)
            #expect(metrics.bytesReceived == Int64(answer.withLock { $0 }))
            #expect(metrics.responseBodyBytes == 5)
        }
    }
#endif
