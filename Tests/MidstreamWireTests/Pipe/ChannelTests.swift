#if os(Linux)
    import Foundation
    import Interception
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamCore
    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ChannelTests {
        private let transport = wireTransport()

        private func connect(
            _ url: String, tls: TLSConfiguration? = nil, timeout: Duration = .seconds(3_600), over transport: WireTransport? = nil
        ) async throws -> any ByteChannel {
            try await (transport ?? self.transport).connect(to: #require(HTTPOrigin(url)), tls: tls, timeout: timeout)
        }

        private static func echo(_ connection: RawConnection) {
            while let byte = connection.next(1) { connection.write(connection.read(byte.count) ?? []) }
        }

        @Test func `What is written comes back, in order`() async throws {
            let server = try RawServer(Self.echo)
            let channel = try await connect(server.url)
            for text in ["a", "hello", "b"] {
                try await channel.write(Array(text.utf8))
                #expect(try await channel.collect(text.utf8.count) == Array(text.utf8))
            }
            try await channel.write([])
            try await withThrowingTaskGroup { group in
                for number in UInt8(0)..<8 { group.addTask { try await channel.write([number, number, number]) } }
                let bytes = try await channel.collect(24)
                for start in stride(from: 0, to: 24, by: 3) {
                    #expect(bytes[start] == bytes[start + 1] && bytes[start] == bytes[start + 2])
                }
                try await group.waitForAll()
            }
        }

        @Test func `A server may speak first, and end cleanly`() async throws {
            let server = try RawServer { $0.write("+OK\r\n") }
            let channel = try await connect(server.url)
            #expect(try await channel.collect(5) == Array("+OK\r\n".utf8))
            #expect(try await channel.read() == nil)
            await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
        }

        /// The system tells of a reset once. Here it tells the writer, so that reading finds nothing but an end.
        @Test func `A reset that a writer meets isn't a clean end`() async throws {
            let (isWanted, isReset) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try RawServer { connection in
                isWanted.wait()
                connection.reset()
                isReset.signal()
            }
            func breakOff() {
                isWanted.signal()
                isReset.wait()
            }
            let loop = try #require(transport.executor as? WireLoop)
            try await withTaskExecutorPreference(loop) {
                let channel = try await connect(server.url)
                // On the loop's thread, which can't read meanwhile.
                breakOff()
                try await channel.write([1])
                let error = await #expect(throws: HTTPError.self) { try await channel.read() }
                #expect(error?.code == .connectionLost)
            }
        }

        @Test func `Closing fails those who wait, and repeats harmlessly`() async throws {
            let server = try RawServer { $0.waitForEnd() }
            let channel = try await connect(server.url)
            let read = Task { try await channel.read() }
            // More than the system takes, of a server that reads it all.
            let written = Task { while true { try await channel.write([UInt8](repeating: 0, count: 1 << 20)) } }
            channel.close()
            channel.close()
            await #expect(throws: HTTPError.self) { try await read.value }
            await #expect(throws: HTTPError.self) { try await written.value }
            let error = await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
            #expect(error?.code == .connectionLost)
        }

        @Test func `A channel that is released is closed, and so is one whose transport is`() async throws {
            let hungUp = Gate()
            let server = try RawServer {
                $0.waitForEnd()
                hungUp.open()
            }
            _ = try await connect(server.url)
            await hungUp.wait()
            let channel = try await connect(server.url)
            transport.close()
            await #expect(throws: HTTPError.self) { try await channel.read() }
            await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
            await #expect(throws: HTTPError.self) { try await connect(server.url) }
        }

        @Test func `Nothing is taken that the other side doesn't take`() async throws {
            let go = DispatchSemaphore(value: 0)
            let size = 64 << 20
            let server = try RawServer { connection in
                go.wait()
                var left = size
                while left > 0, connection.read(min(left, 1 << 20)) != nil { left -= 1 << 20 }
                connection.write([7])
                connection.waitForEnd()
            }
            let channel = try await connect(server.url)
            let written = Locked(0)
            let writing = Task {
                for _ in 0..<(size >> 20) {
                    try await channel.write([UInt8](repeating: 1, count: 1 << 20))
                    written.withLock { $0 += 1 << 20 }
                }
            }
            // Whatever the socket's buffers hold, it isn't all.
            await eventually { written.withLock { $0 } > 0 }
            #expect(written.withLock { $0 } < size)
            go.signal()
            try await writing.value
            #expect(try await channel.collect(1) == [7])
        }

        @Test func `What waits has left once the channel has finished`() async throws {
            let (go, sum) = (DispatchSemaphore(value: 0), Locked((count: 0, last: [UInt8]())))
            let over = Gate()
            let server = try RawServer { connection in
                go.wait()
                while let bytes = connection.readSome() {
                    sum.withLock { $0 = ($0.count + bytes.count, Array(($0.last + bytes).suffix(3))) }
                }
                over.open()
            }
            let channel = try #require(await connect(server.url) as? BodyChannel)
            let pipe = try #require(channel.writer as? PipeWriter).pipe
            var count = 3
            // So much that the system takes no more, and not so much that writing waits for it.
            while pipe.piece == nil {
                try await channel.write([UInt8](repeating: 0, count: 16 << 10))
                count += 16 << 10
            }
            try await channel.write(Array("end".utf8))
            go.signal()
            await channel.finish()
            channel.close()
            await over.wait()
            #expect(sum.withLock { $0.count } == count && sum.withLock { $0.last } == Array("end".utf8))
            await channel.finish()
        }

        @Test func `Of what is written it is told how much hasn't left, though it leaves bit by bit`() async throws {
            let (go, over, size) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), 64 << 20)
            let server = try RawServer { connection in
                go.wait()
                _ = connection.read(size / 4)
                over.wait()
                connection.waitForEnd()
            }
            let channel = try #require(await connect(server.url) as? BodyChannel)
            let writing = Task { try await channel.write([UInt8](repeating: 0, count: size)) }
            await eventually { channel.unsent > 0 }
            let unsent = channel.unsent
            go.signal()
            await eventually(within: .seconds(120)) { channel.unsent < unsent }
            #expect(channel.unsent < unsent && channel.unsent > 0)
            channel.close()
            over.signal()
            await #expect(throws: HTTPError.self) { try await writing.value }
        }

        @Test func `What nobody reads stays with the other side`() async throws {
            let sent = Locked(0)
            let size = 64 << 20
            let server = try RawServer { connection in
                let piece = [UInt8](repeating: 5, count: 1 << 20)
                for _ in 0..<(size >> 20) {
                    guard connection.write(piece) else { return }
                    sent.withLock { $0 += 1 << 20 }
                }
            }
            let channel = try await connect(server.url)
            let first = try #require(try await channel.read())
            #expect(sent.withLock { $0 } < size)
            var count = first.count
            while let bytes = try await channel.read() {
                count += bytes.count
                #expect(bytes.count < 2 * BodyStream.pipeLimit)
            }
            #expect(count == size)
        }

        @Test func `A cancelled reader or writer ends the channel`() async throws {
            let server = try RawServer { $0.waitForHangUp() }
            for reads in [true, false] {
                let channel = try await connect(server.url)
                let task = Task {
                    if reads { _ = try await channel.read() }
                    while !reads { try await channel.write([UInt8](repeating: 0, count: 1 << 20)) }
                }
                await Task.yield()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                let error = await #expect(throws: (any Error).self) { try await channel.read() }
                #expect(error is CancellationError || error as? HTTPError != nil)
                await #expect(throws: HTTPError.self) { try await channel.writeToItsEnd() }
            }
        }

        @Test func `A connection that can't be made says why`() async throws {
            let refused = await #expect(throws: HTTPError.self) { try await connect("http://127.0.0.1:1") }
            #expect(refused?.code == .connection && refused?.phase == .notSent)
            let silent = try RawServer { $0.waitForEnd() }
            let late = await #expect(throws: HTTPError.self) {
                try await connect(silent.url.replacing("http:", with: "https:"), timeout: .milliseconds(50))
            }
            #expect(late?.code == .timeout && late?.phase == .notSent)
            let task = Task { try await connect(silent.url.replacing("http:", with: "https:")) }
            await eventually { silent.accepted > 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func `Authorities for a proxy that can't be read aren't told as a lack of memory`() async throws {
            let proxy = try RawServer { $0.waitForEnd() }
            var configuration = TransportConfiguration(proxy: .http("https://127.0.0.1:\(proxy.port)"))
            configuration.tls.authorities = .file("/nowhere/authorities.pem")
            let transport = wireTransport(configuration: configuration)
            let error = await #expect(throws: HTTPError.self) { try await connect("http://h.example", over: transport) }
            #expect(error?.code == .tls && error?.message.contains("/nowhere/authorities.pem") == true)
        }

        @Test func `Channels count among the connections of a host`() async throws {
            let server = try RawServer(Self.echo)
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = 1
            let transport = wireTransport(configuration: configuration)
            let first = try await connect(server.url, over: transport)
            let late = await httpError { try await connect(server.url, timeout: .milliseconds(50), over: transport) }
            #expect(late?.code == .timeout)
            async let second = connect(server.url, over: transport)
            first.close()
            try await second.write([1])
        }

        // MARK: Real servers

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `TLS, proxies and unix sockets are the transport's`() async throws {
            let request = Array("GET /hello HTTP/1.0\r\nHost: localhost\r\n\r\n".utf8)
            func ask(_ channel: any ByteChannel) async throws {
                try await channel.write(request)
                let answer = String(decoding: try await channel.collect(12).prefix(12), as: UTF8.self)
                #expect(answer == "HTTP/1.1 200")
            }
            let tls = TLSConfiguration(authorities: .file(Servers["CA"]))
            let credentials = TransportConfiguration.Credentials(user: Servers["PROXY_USER"], password: Servers["PROXY_PASSWORD"])
            for proxy: TransportConfiguration.Proxy in [
                .direct, .http(Servers["HTTP_PROXY"], credentials: credentials),
                .socks5(Servers["SOCKS_PROXY"].replacing("socks5://", with: ""), credentials: credentials),
            ] {
                let transport = wireTransport(configuration: .init(proxy: proxy))
                try await ask(connect(Servers["NGINX_HTTPS"], tls: tls, over: transport))
                // Not asked to forward it, which would be HTTP.
                try await ask(connect(Servers["NGINX_HTTP"], over: transport))
                let untrusted = await httpError { try await connect(Servers["NGINX_HTTPS"], over: transport) }
                #expect(untrusted?.code == .tls)
            }
            let unix = wireTransport(configuration: .init(unixSocketPath: Servers["NGINX_SOCKET"]))
            try await ask(connect("http://nowhere.invalid", over: unix))
        }

        /// How much TLS keeps, and whether the pipe does as well, once the loop has done what was posted before.
        private static func kept(by writer: PipeWriter) async -> (unsent: Int, isInPipe: Bool) {
            let kept = Suspension<(unsent: Int, isInPipe: Bool)>()
            writer.loop.post(
                .run {
                    let channel = (writer.pipe.connection as? HTTP1Connection)?.channel
                    kept.resume((unsent: channel?.unsent ?? 0, isInPipe: writer.pipe.piece != nil))
                })
            return await kept.value()
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `What TLS has made and the system hasn't taken waits to be finished`() async throws {
            let (go, count, over) = (DispatchSemaphore(value: 0), Locked(0), Gate())
            // Tickets that nobody has read when the channel is closed would have it reset.
            let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"], sendsTickets: false)
            let server = try RawServer(tls: tls) { connection in
                go.wait()
                while let bytes = connection.readSome() { count.withLock { $0 += bytes.count } }
                over.open()
            }
            let channel = try #require(
                await connect(server.url, tls: TLSConfiguration(verifiesCertificates: false)) as? BodyChannel)
            let writer = try #require(channel.writer as? PipeWriter)
            var (written, kept) = (0, (unsent: 0, isInPipe: false))
            while kept.unsent == 0 {
                try await channel.write([UInt8](repeating: 0, count: 16 << 10))
                written += 16 << 10
                kept = await Self.kept(by: writer)
            }
            #expect(kept.isInPipe)
            go.signal()
            await channel.finish()
            channel.close()
            await over.wait()
            #expect(count.withLock { $0 } == written)
        }

        @Test(.enabled(if: Servers.areRunning, "run by Scripts/with-servers"))
        func `An end without that of TLS isn't a clean one`() async throws {
            for isClean in [true, false] {
                let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"])
                let server = try RawServer(tls: tls) { connection in
                    connection.write([1])
                    if isClean { connection.endTLS() }
                }
                let channel = try await connect(server.url, tls: TLSConfiguration(verifiesCertificates: false))
                #expect(try await channel.read() == [1])
                if isClean {
                    #expect(try await channel.read() == nil)
                } else {
                    await #expect(throws: HTTPError.self) { try await channel.read() }
                }
            }
        }
    }

    extension ByteChannel {
        /// So many bytes.
        func collect(_ count: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count, let more = try await read() { bytes += more }
            return bytes
        }
    }

    extension ByteChannel {
        /// Writes until that fails, as it does once the loop knows of the connection's end.
        func writeToItsEnd() async throws {
            while true {
                try await write([1])
                await Task.yield()
            }
        }
    }
#endif
