#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import LibraryInterposition
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamCurl

    /// What is watched of the connections that curl keeps.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct KeptConnectionTests {
        private let transport = curlTransport()

        @Test func `Connections are kept, and stay registered while they are`() async throws {
            let server = try RawServer.ok()
            let loop = try #require(transport.executor as? CurlLoop)
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let before = await onLoop(loop) { loop.sockets.changes }
            for _ in 0..<20 {
                let response = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
                #expect(response.metrics?.isReusedConnection == true)
            }
            #expect(server.accepted == 1)
            // Newer versions of curl also ask whether a socket can be written to, and then don't any more, for each request: 40 changes, and
            // some more on a busy machine. One that was taken out and put back for each would make 40 of its own.
            let allowed = CurlLibrary.version < 0x08_01_00 ? 0 : 70
            #expect(await onLoop(loop) { loop.sockets.changes } <= before + allowed)
        }

        /// In a process of its own, since others need more descriptors.
        @Test func `Half of the descriptors are kept at most, also where more connections are allowed`() async {
            await #expect(processExitsWith: .success) {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                limit.rlim_cur = 64
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                for most in [nil, 4_000] as [Int?] {
                    let transport = curlTransport(configuration: TransportConfiguration(maximumConnections: most))
                    let loop = try #require(transport.executor as? CurlLoop)
                    let kept = await onLoop(loop) { loop.keptConnections }
                    #expect(kept == 32)
                    transport.close()
                }
            }
        }

        /// An answer that has come before curl asks for it, and is too large for its reader: curl stops without having waited for
        /// the socket, so that nothing but the sending tells that the connection isn't idle any more.
        @Test func `A kept connection that answers at once isn't idle`() async throws {
            let size = 1 + 258 * 4_000
            let body = Self.zeros(runs: 4_000)
            let isStopped = DispatchSemaphore(value: 0)
            let hasSpoken = DispatchSemaphore(value: 0)
            let server = try RawServer { connection in
                while let head = connection.readHead() {
                    guard head.hasPrefix("GET /answered-at-once ") else {
                        connection.write(RawServer.okResponse)
                        continue
                    }
                    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(body.count)\r\n\r\n"
                    connection.write(Array(answer.utf8) + body.dropLast(100))
                    isStopped.wait()
                    connection.write(Array(body.suffix(100)))
                    hasSpoken.signal()
                }
            }
            let loop = try #require(transport.executor as? CurlLoop)
            _ = try await transport.deliver(request(server.url, .buffered(upTo: 10)))
            let before = sends_answered_at_once()
            let response = try await transport.deliver(request("\(server.url)/answered-at-once", .streamed))
            #expect(sends_answered_at_once() == before + 1, "Curl's sending doesn't come here.")
            await eventually { await onLoop(loop, { loop.active.contains { $0.isReceivingPaused } }) }
            isStopped.signal()
            hasSpoken.wait()
            // A turn of the loop in which it sees the socket readable.
            for _ in 0..<3 { await onLoop(loop) {} }
            #expect(await onLoop(loop) { loop.sockets.kept.buried } == 0)
            #expect(try await response.body.collect().count == size)
            #expect(server.accepted == 1)
        }

        /// Says farewell on an idle connection, which libcurl would take for the answer to the next request there.
        @Test func `None to a unix domain socket is kept`() async throws {
            let folder = try TemporaryFolder()
            let path = folder.url.appendingPathComponent("s").path
            let listener = try #require(Self.listener(path))
            let isAnswered = DispatchSemaphore(value: 0)
            let hasSpoken = DispatchSemaphore(value: 0)
            let hasEnded = Suspension<Void>()
            Thread.detachNewThread {
                let first = Self.answerNext(listener, "1")
                isAnswered.wait()
                Self.write("408 Request Timeout", "bye", to: first)
                hasSpoken.signal()
                Glibc.close(Self.answerNext(listener, "2"))
                Glibc.close(first)
                hasEnded.resume()
            }
            let transport = curlTransport(configuration: TransportConfiguration(unixSocketPath: path))
            let one = try await transport.deliver(request("http://any.name/", .buffered(upTo: 10)))
            isAnswered.signal()
            hasSpoken.wait()
            let two = try await transport.deliver(request("http://any.name/", .buffered(upTo: 10)))
            shutdown(listener, Int32(SHUT_RDWR))
            await hasEnded.value()
            Glibc.close(listener)
            #expect(one.body.bytes == Array("1".utf8))
            #expect(two.status == 200)
            #expect(two.body.bytes == Array("2".utf8))
        }

        private static func listener(_ path: String) -> Int32? {
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let length = socklen_t(MemoryLayout<sockaddr_un>.size)
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
            }
            return status == 0 && listen(listener, 8) == 0 ? listener : nil
        }

        /// Answers the first request of the next connection, which stays open.
        private static func answerNext(_ listener: Int32, _ body: String) -> Int32 {
            let connection = accept(listener, nil, nil)
            var received = [UInt8](repeating: 0, count: 4_096)
            if recv(connection, &received, received.count, 0) > 0 { write("200 OK", body, to: connection) }
            return connection
        }

        private static func write(_ status: String, _ body: String, to connection: Int32) {
            let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
            _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        }

        /// Zeros in zlib's format (RFC 1950): a literal, and then as often "258 times the byte before" (RFC 1951 §3.2.6).
        private static func zeros(runs: Int) -> [UInt8] {
            var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
            for _ in 0..<runs { bits += [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0] }
            bits += [0, 0, 0, 0, 0, 0, 0]
            var bytes: [UInt8] = [0x78, 0x01]
            for start in stride(from: 0, to: bits.count, by: 8) {
                var byte: UInt8 = 0
                for place in start..<min(start + 8, bits.count) { byte |= bits[place] << UInt8(place - start) }
                bytes.append(byte)
            }
            // Adler-32 of nothing but zeros: 1, and their count.
            let sum = (1 + 258 * runs) % 65_521
            return bytes + [UInt8(sum >> 8), UInt8(sum & 255), 0, 1]
        }
    }
#endif
