#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UnixSocketTests {
        private static func open(_ flags: __socket_type...) -> Int32 {
            socket(AF_UNIX, flags.reduce(0) { $0 | Int32($1.rawValue) }, 0)
        }

        /// Answers so many connections, unless they are closed without a request.
        private static func answer(_ count: Int, by listener: Int32) {
            let answer = Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".utf8)
            var received = [UInt8](repeating: 0, count: 4_096)
            for _ in 0..<count {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                if recv(connection, &received, received.count, 0) > 0 {
                    _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
                }
                Glibc.close(connection)
            }
        }

        @Test func `A server whose queue is full is waited for`() async throws {
            let folder = try TemporaryFolder()
            let path = folder.url.appendingPathComponent("s").path
            let address = try #require(HostAddress(unixPath: path))
            let listener = Self.open(SOCK_STREAM, SOCK_CLOEXEC)
            let isListening = address.withSocketAddress { bind(listener, $0, $1) == 0 } && listen(listener, 0) == 0
            try #require(isListening)
            var queue: [Int32] = []
            while queue.count < 1_000 {
                let descriptor = Self.open(SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK)
                queue.append(descriptor)
                guard address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else { break }
            }
            let transport = wireTransport(configuration: TransportConfiguration(unixSocketPath: path))
            let loop = try #require(transport.executor as? WireLoop)
            let isOver = Locked(false)
            let sent = Task {
                defer { isOver.withLock { $0 = true } }
                return try await transport.deliver(request("http://any.name/", .buffered(upTo: 10)))
            }
            await eventually {
                let isDialing = await onLoop(loop) { loop.pool.dialCount == 1 }
                return isDialing || isOver.withLock { $0 }
            }
            for descriptor in queue { Glibc.close(descriptor) }
            let count = queue.count
            let hasEnded = Suspension<Void>()
            Thread.detachNewThread {
                Self.answer(count, by: listener)
                hasEnded.resume()
            }
            let outcome = await sent.result
            shutdown(listener, Int32(SHUT_RDWR))
            await hasEnded.value()
            Glibc.close(listener)
            #expect(try outcome.get().body.bytes == Array("ok".utf8))
        }
    }
#endif
