#if os(Linux)
    import Foundation
    import Glibc
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// Files that the system sends: more of each than connections and the feeder hold.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct FileUploadTests {
        private static let length = 24 << 20

        private let folder: TemporaryFolder
        private let file: URL

        init() throws {
            folder = try TemporaryFolder()
            file = try folder.file(Self.content)
        }

        /// A piece that comes again at other places of what is read and sent at once, since its length is a prime number.
        private static let content: [UInt8] = {
            let piece = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            var bytes: [UInt8] = []
            while bytes.count < length { bytes += piece }
            return Array(bytes[..<length])
        }()

        private func put(_ server: RawServer) -> HTTPRequest { HTTPRequest(.put, server.url, body: .file(file)) }

        @Test func `A server that is slow gets every byte`() async throws {
            let received = Locked<[UInt8]>([])
            let server = try RawServer { connection in
                guard let head = connection.readHead(), head.contains("\r\nContent-Length: \(Self.length)") else { return }
                var body: [UInt8] = []
                // A piece at a time, so that there is no room again and again.
                while body.count < Self.length, let piece = connection.read(min(10_007, Self.length - body.count)) {
                    body += piece
                }
                received.withLock { $0 = body }
                _ = connection.write("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                connection.waitForEnd()
            }
            let response = try await wireTransport().deliver(put(server))
            #expect(response.status == 201 && response.metrics?.requestBodyBytes == Int64(Self.length))
            #expect(received.withLock { $0 == Self.content })
        }

        @Test(arguments: [Self.length - (1 << 20), Self.length + 1])
        func `A file whose length changes while it is sent is unreadable`(changed: Int) async throws {
            let path = file.path
            let gotAll = Locked(false)
            let server = try RawServer { connection in
                guard connection.readHead() != nil, connection.read(1 << 10) != nil else { return }
                truncate(path, changed)
                gotAll.withLock { $0 = connection.read(Self.length - (1 << 10)) != nil }
            }
            await #expect {
                _ = try await wireTransport().deliver(put(server))
            } throws: { error in
                (error as? HTTPError)?.code == .bodyUnreadable
            }
            #expect(!gotAll.withLock { $0 }, "No part passes for a whole request.")
        }

        @Test func `What the system can't send isn't taken for the connection's end`() throws {
            let pair = try PairedChannel()
            let channel = pair.channel
            defer { channel.close() }
            channel.becameReady(.writing)
            let directory = open("/", O_RDONLY | O_CLOEXEC)
            defer { close(directory) }
            guard case .unreadable = channel.send(1, of: directory, from: 0) else { throw ChannelFailure.ended }
            close(pair.other)
            let file = open(file.path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            guard case .failed = channel.send(1, of: file, from: 0) else { throw ChannelFailure.ended }
        }

        @Test func `A file isn't read on the thread of a loop that its caller prefers`() async throws {
            let (transport, file) = (wireTransport(), file)
            let loop = try #require(transport.executor as? WireLoop)
            let areOnLoop = await withTaskExecutorPreference(loop) {
                [HTTPBody.file(file), HTTPBody.stream { HTTPBody.file(file) }].map { body -> Bool in
                    let request = HTTPRequest(.put, "http://h/", body: body)
                    let transfer = WireTransfer(
                        request, ExchangeOptions(), settings: loop.settings, tls: nil, loop: loop, owner: loop)
                    return (transfer.bodyExecutor?.preferred as? WireLoop) === loop
                }
            }
            #expect(areOnLoop == [false, true])
        }

        /// Without care the process would end by a signal: one of its own, since others here may be ended by it.
        @Test func `A connection that is reset while a file is sent is lost`() async {
            await #expect(processExitsWith: .success) {
                signal(SIGPIPE, SIG_DFL)
                let tests = try FileUploadTests()
                let server = try RawServer { connection in
                    guard connection.readHead() != nil, connection.read(1 << 10) != nil else { return }
                    connection.reset()
                }
                await #expect {
                    _ = try await wireTransport().send(tests.put(server))
                } throws: { error in
                    (error as? HTTPError)?.code == .connectionLost
                }
            }
        }

        @Test func `A reset that a file meets cuts the answer's body`() async throws {
            let hasHead = DispatchSemaphore(value: 0)
            defer { hasHead.signal() }
            let server = try RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\nbody")
                hasHead.wait()
                connection.reset()
            }
            let response = try await wireTransport().deliver(put(server))
            hasHead.signal()
            let error = await #expect(throws: HTTPError.self) { try await response.body.collect() }
            #expect(error?.code == .connectionLost && error?.phase == .answered)
        }

        @Test func `An answer during the upload is delivered`() async throws {
            let server = try RawServer { connection in
                guard connection.readHead() != nil, connection.read(1 << 10) != nil else { return }
                _ = connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
                connection.waitForEnd()
            }
            let response = try await wireTransport().deliver(put(server))
            #expect(response.status == 413)
            #expect(try await response.body.collect() == Array("large".utf8))
        }

        @Test func `A file goes out again when its kept connection has died`() async throws {
            let connections = Locked(0)
            let bodies = Locked<[Bool]>([])
            let server = try RawServer { connection in
                let number = connections.increment()
                guard let first = connection.readRequest() else { return }
                if number > 1 { bodies.withLock { $0.append(first.body == Self.content) } }
                _ = connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                // The next one dies with its connection, some of its body having been read.
                if number == 1, connection.readHead() != nil { _ = connection.read(1 << 10) } else { connection.waitForEnd() }
            }
            let transport = wireTransport()
            _ = try await transport.deliver(HTTPRequest(server.url))
            let response = try await transport.deliver(put(server))
            #expect(response.status == 200 && response.metrics?.resends == 1)
            #expect(bodies.withLock { $0 } == [true])
        }

        @Test func `A cancelled upload leaves nothing`() async throws {
            let hasBegun = Suspension<Void>()
            let server = try RawServer { connection in
                guard connection.readHead() != nil, connection.read(1 << 10) != nil else { return }
                hasBegun.resume()
                connection.waitForHangUp()
            }
            let transport = wireTransport()
            let request = put(server)
            let upload = Task { try await transport.deliver(request) }
            await hasBegun.value()
            upload.cancel()
            await #expect(throws: CancellationError.self) { _ = try await upload.value }
        }
    }
#endif
