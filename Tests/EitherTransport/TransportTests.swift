#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct TransportTests {
        let transport = testedTransport()

        @Test(arguments: deliveries) func `A GET brings status, fields and body`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 5\r\n\r\nhello" }
            let response = try await transport.deliver(request("\(server.url)/a", delivery))
            #expect(response.status == 200)
            #expect(response.version == .http1_1)
            #expect(response.headers.values("X-A") == ["1", "2"])
            #expect(response.body.length == 5)
            #expect(try await response.body.collect() == Array("hello".utf8))
            #expect(response.metrics?.remoteAddress == "127.0.0.1")
            #expect(response.metrics?.isReusedConnection == false)
        }

        @Test(arguments: [true, false])
        func `A DELETE without a body has the length that it is given`(_ isGiven: Bool) async throws {
            let heads = Locked<[String]>([])
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    heads.withLock { $0.append(head) }
                    connection.write(RawServer.okResponse)
                }
            }
            var request = request(server.url, .buffered(upTo: 10))
            request.method = .delete
            if isGiven { request.headers[.contentLength] = "0" }
            #expect(try await testedTransport().deliver(request).status == 200)
            let lines = heads.withLock { $0.first ?? "" }.lowercased().split(separator: "\r\n")
            #expect(lines.filter { $0.hasPrefix("content-length:") } == (isGiven ? ["content-length: 0"] : []))
        }

        @Test func `A buffered body is in memory`() async throws {
            let server = try RawServer.answering { _ in
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            }
            let response = try await transport.deliver(request(server.url, .buffered(upTo: 5)))
            #expect(response.body.bytes == Array("hello".utf8))
        }

        @Test(arguments: deliveries) func `Bytes, chunks and files are sent`(_ delivery: BodyDelivery) async throws {
            let server = try RawServer.answering { request in
                "HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n" + String(decoding: request.body, as: UTF8.self)
            }
            let bytes = [UInt8](repeating: 65, count: 300_000)
            let file = temporaryPath(UUID().uuidString)
            try Data(bytes).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let pieces = stride(from: 0, to: bytes.count, by: 50_000).map { Array(bytes[$0..<($0 + 50_000)]) }
            let bodies: [HTTPBody] = [
                .bytes(bytes), .file(file), .stream(length: 300_000) { pieces.stream }, .stream { pieces.stream },
                .once(pieces.stream),
            ]
            for body in bodies {
                for method: HTTPMethod in [.post, .put, .patch, "PURGE"] {
                    guard body.replayability == .replayable || method == .post else { continue }
                    var sent = request(server.url, delivery)
                    sent.method = method
                    sent.body = body
                    let response = try await transport.deliver(sent)
                    #expect(try await response.body.collect() == bytes, "\(method) \(body)")
                }
            }
        }

        @Test func `Cancelling ends the request at once`() async throws {
            let arrived = AsyncStream.makeStream(of: Void.self)
            let server = try RawServer { connection in
                _ = connection.readHead()
                arrived.continuation.yield()
                connection.waitForEnd()
                arrived.continuation.yield()
            }
            let url = server.url
            let task = Task { try await transport.deliver(HTTPRequest(url)) }
            var arrivals = arrived.stream.makeAsyncIterator()
            await arrivals.next()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await arrivals.next()
        }
    }

    let deliveries: [BodyDelivery] = [.streamed, .buffered(upTo: 1 << 20)]

    func request(_ url: String, _ delivery: BodyDelivery) -> HTTPRequest {
        var request = HTTPRequest(url)
        request.delivery = delivery
        return request
    }

    extension RawServer {
        /// `ok`, after which the connection goes on.
        static let okResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        /// Answers every request of a connection so.
        static func ok(tls: TLSServer? = nil) throws -> RawServer {
            try RawServer(tls: tls) { connection in
                while connection.readRequest() != nil { connection.write(Self.okResponse) }
            }
        }
    }

    extension [[UInt8]] {
        /// The chunks as an asynchronous sequence.
        var stream: AsyncStream<[UInt8]> {
            AsyncStream { continuation in
                for chunk in self { continuation.yield(chunk) }
                continuation.finish()
            }
        }
    }
#endif
