#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ExpectationTests {
        /// The connection is found broken while what has come over it is being read.
        @Test func `An answer that comes with the leave to send counts, though nothing can be sent any more`() async throws {
            let (hasCome, isReset) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write(
                    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                hasCome.wait()
                connection.reset()
                isReset.signal()
            }
            var request = HTTPRequest(.put, server.url, headers: ["Expect": "100-continue"], body: .bytes([1, 2, 3]))
            request.delivery = .buffered(upTo: 10)
            request.onInterim = { _ in
                hasCome.signal()
                isReset.wait()
            }
            let response = try await wireTransport().deliver(request)
            #expect(response.status == 200)
            #expect(response.body.bytes == Array("ok".utf8))
        }
    }
#endif
