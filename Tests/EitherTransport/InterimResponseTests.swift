#if os(Linux)
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct InterimResponseTests {
        private let transport = testedTransport()
        private static let heads =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
            + "HTTP/1.1 199 Own\r\nX-Own: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"

        @Test(arguments: deliveries) func `Interim responses are told as they come, 100 excepted`(_ delivery: BodyDelivery)
            async throws
        {
            let server = try RawServer.answering { _ in Self.heads }
            let told = Locked<[InterimResponse]>([])
            var request = request(server.url, delivery)
            request.onInterim = { interim in told.withLock { $0.append(interim) } }
            let response = try await transport.deliver(request)
            let expected = [
                InterimResponse(status: 103, headers: ["Link": "</a>", "link": "</b>"]),
                InterimResponse(status: 199, headers: ["X-Own": "1"]),
            ]
            #expect(told.withLock { $0 } == expected)
            #expect(response.metrics?.interim == expected)
            #expect(try await response.body.collect() == [UInt8(ascii: "x")])
        }

        @Test(arguments: [32, 33]) func `At most 32 are taken`(_ count: Int) async throws {
            let server = try RawServer.answering { _ in
                String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: count)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
            }
            let response = try? await transport.deliver(request(server.url, .buffered(upTo: 10)))
            #expect((response != nil) == (count == 32))
        }

        @Test(arguments: ["102 Processing", "104 Upload Resumption Supported"])
        func `Every sign of progress is told, and 32 of them are kept`(_ status: String) async throws {
            let server = try RawServer.answering { _ in
                String(repeating: "HTTP/1.1 \(status)\r\nUpload-Offset: 1\r\n\r\n", count: 600)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
            }
            let told = Locked(0)
            var request = request(server.url, .buffered(upTo: 10))
            request.onInterim = { _ in told.withLock { $0 += 1 } }
            let response = try await transport.deliver(request)
            #expect(response.body.bytes == Array("x".utf8))
            #expect(told.withLock { $0 } == 600 && response.metrics?.interim.count == 32)
        }

        @Test func `A trace tells them`() async throws {
            let server = try RawServer.answering { _ in Self.heads }
            let response = try await testClient(transport: transport).send(HTTPRequest(server.url))
            let notes = "\(response.trace)"
            #expect(notes.contains("before it: 103 Early Hints") && notes.contains("before it: 199"))
            #expect(!notes.contains("100 Continue"))
        }
    }
#endif
