#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct StreamingTests {
        let transport = testedTransport()

        @Test func `A reader that is behind stops the server`() async throws {
            let written = Locked(0)
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n")
                let chunk = [UInt8](repeating: 7, count: 64 << 10)
                for _ in 0..<1024 {
                    guard connection.write(chunk) else { return }
                    written.withLock { $0 += chunk.count }
                }
            }
            let response = try await transport.deliver(HTTPRequest(server.url))
            // The sockets' buffers fill up; then nothing moves any more.
            var before = -1
            while true {
                try await Task.sleep(for: .milliseconds(50))
                let now = written.withLock { $0 }
                if now == before { break }
                before = now
            }
            #expect(before < 32 << 20)
            var count = 0
            for try await chunk in response.body {
                #expect(chunk.count < 1 << 20)
                count += chunk.count
            }
            #expect(count == 64 << 20)
        }

        @Test func `A body released unread, closed or cancelled gives up the transfer`() async throws {
            let ended = AsyncStream.makeStream(of: Void.self)
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
                connection.waitForEnd()
                ended.continuation.yield()
            }
            var ends = ended.stream.makeAsyncIterator()
            do { _ = try await transport.deliver(HTTPRequest(server.url)) }
            await ends.next()

            let response = try await transport.deliver(HTTPRequest(server.url))
            response.body.close()
            response.body.close()
            await ends.next()
            let error = try await #require(throws: HTTPError.self) { _ = try await response.body.collect() }
            #expect(error.code == .connectionLost)

            let reading = AsyncStream.makeStream(of: Void.self)
            let arriving = try await transport.deliver(HTTPRequest(server.url))
            let task = Task {
                for try await _ in arriving.body { reading.continuation.yield() }
            }
            for await _ in reading.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await ends.next()
        }

        @Test func `Whoever reads a body that was given up learns why`() {
            let stream = BodyStream()
            #expect(stream.close(CancellationError()))
            // As the release of the body does.
            #expect(!stream.close(HTTPError(.connectionLost)))
            guard case .chunk(.failure(let error), _) = stream.next() else { return #expect(Bool(false)) }
            #expect(error is CancellationError)
        }

        private func arrived(_ text: String, reading: Bool = false, ending: ((BodyStream) -> Void)? = nil) -> BodyStream {
            let stream = BodyStream()
            var text = text
            _ = text.withUTF8 { stream.append(UnsafeRawBufferPointer($0)) }
            if reading { _ = stream.next() }
            if let ending { ending(stream) } else { stream.finish(nil, trailers: ["A": "1"], metrics: nil) }
            return stream
        }

        @Test func `A body that is complete and unread can be taken at once, a single time`() {
            let whole = arrived("abc")
            #expect(whole.takeAll() == Array("abc".utf8))
            #expect(whole.isSpent && whole.takeAll() == nil && whole.trailers == ["A": "1"])
            guard case .chunk(.failure(let error as HTTPError), _) = whole.next() else { return #expect(Bool(false)) }
            #expect(error.code == .bodyNotReplayable)
            #expect(arrived("").takeAll() == [])
            #expect(arrived("abc", reading: true).takeAll() == nil)
            #expect(arrived("abc", ending: { _ in }).takeAll() == nil)
            #expect(arrived("abc", ending: { _ = $0.close(CancellationError()) }).takeAll() == nil)
            #expect(
                arrived("abc", ending: { $0.finish(HTTPError(.connectionLost), trailers: nil, metrics: nil) }).takeAll() == nil)
        }

        @Test func `A body can be read once`() async throws {
            let server = try RawServer.answering { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab" }
            let response = try await transport.deliver(HTTPRequest(server.url))
            #expect(!response.body.isSpent)
            #expect(try await response.body.collect().count == 2)
            #expect(response.body.isSpent)
            #expect(response.metrics?.total != nil)
            let error = try await #require(throws: HTTPError.self) { _ = try await response.body.collect() }
            #expect(error.code == .bodyNotReplayable && error.phase == .answered)
        }

        @Test func `A response that is still arriving outlives its transport`() async throws {
            let gate = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
                gate.wait()
                connection.write("cd")
            }
            let response = try await testedTransport().send(HTTPRequest(server.url))
            gate.signal()
            #expect(try await response.body.collect() == Array("abcd".utf8))
        }

        @Test(arguments: [3, 5]) func `A stream of another length than announced fails`(_ count: Int) async throws {
            let server = try RawServer { connection in
                _ = connection.readRequest()
                connection.waitForEnd()
            }
            let chunks = (0..<count).map { [UInt8($0)] }
            let error = try await #require(throws: HTTPError.self) {
                try await transport.deliver(HTTPRequest(.post, server.url, body: .stream(length: 4) { chunks.stream }))
            }
            #expect(error.code == .bodyUnreadable && error.metrics?.connect != nil)
        }

        @Test func `What a stream throws ends the request as it is`() async throws {
            struct Broken: Error {}
            let server = try RawServer { $0.waitForEnd() }
            let body = HTTPBody.stream { AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Broken()) } }
            await #expect(throws: Broken.self) { try await transport.deliver(HTTPRequest(.post, server.url, body: body)) }
        }

        @Test func `A file that isn't there is told before anything is sent`() async throws {
            let error = try await #require(throws: HTTPError.self) {
                try await transport.deliver(
                    HTTPRequest(.post, "http://127.0.0.1:1", body: .file(URL(fileURLWithPath: "/nowhere"))))
            }
            #expect(error.code == .bodyUnreadable && error.phase == .notSent)
        }

        @Test func `A stream is read no faster than it is sent`() async throws {
            let made = Locked(0)
            let server = try RawServer { connection in
                _ = connection.readHead()
                connection.waitForHangUp()
            }
            let body = HTTPBody.stream {
                AsyncStream<[UInt8]> {
                    made.withLock { $0 += 1 }
                    return [UInt8](repeating: 0, count: 1 << 20)
                }
            }
            let request = HTTPRequest(.post, server.url, body: body)
            let task = Task { try await transport.deliver(request) }
            var before = -1
            while before != made.withLock({ $0 }) || before == 0 {
                before = made.withLock { $0 }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(before < 32)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `Framing fields can't contradict the body`() async throws {
            for headers: HTTPHeaders in [
                ["Content-Length": "5"], ["Content-Length": "1, 1"], ["Content-Length": "+1"], ["Transfer-Encoding": "gzip"],
            ] {
                let error = try await #require(throws: HTTPError.self) {
                    try await transport.deliver(HTTPRequest(.post, "http://127.0.0.1:1", headers: headers, body: .bytes([1])))
                }
                #expect(error.code == .invalidRequest && error.phase == .notSent)
            }
        }
    }
#endif
