#if os(Linux)
    import Dispatch
    import Glibc
    @testable import MidstreamCore
    @testable import MidstreamLoop
    import MidstreamTransport
    @testable import MidstreamWire

    /// Has the wire read what a server of HTTP/2 sends, for two requests at a time over one connection. The first byte says what they are, and
    /// whether the server's settings come first.
    enum WireFrames {
        /// What goes out again finds no server.
        private static let settings = WireSettings(
            TransportConfiguration(unixSocketPath: "/nowhere", httpVersions: .http2PriorKnowledge))
        private static let loop = Result { try WireLoop(settings, share: .whole) }
        private static let url = "http://h/"

        /// Reads what the bytes stand for; returns when both requests have ended, however they do.
        static func read(_ bytes: [UInt8]) {
            var ends: [Int32] = [0, 0]
            guard let loop = try? loop.get(), let first = bytes.first,
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0
            else { return }
            let (own, server) = (ends[0], ends[1])
            defer { close(server) }
            // What is sent has to fit into the socket's buffer.
            let settings: [UInt8] = first & 8 == 0 ? [0, 0, 0, 4, 0, 0, 0, 0, 0] : []
            let frames = settings + bytes.dropFirst().prefix(48 << 10)
            _ = frames.withUnsafeBytes { send(server, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            shutdown(server, Int32(SHUT_WR))

            let done = DispatchSemaphore(value: 0)
            // All of it on the loop's thread: to change threads takes longer than to read.
            Task.detached(executorPreference: loop) {
                let connection = connect(own, loop)
                async let one: Void = exchange(first, loop)
                async let other: Void = exchange(first >> 4, loop)
                _ = await (one, other)
                connection?.end()
                done.signal()
            }
            done.wait()
        }

        private static func connect(_ descriptor: Int32, _ loop: WireLoop) -> HTTP2Connection? {
            guard let address = HostAddress(unixPath: "/nowhere"),
                let channel = try? Channel(descriptor, loop.channels, owner: Nobody())
            else { return nil }
            channel.didConnect(to: address, number: 1)
            let connection = HTTP2Connection(channel, route: settings.route(of: url, address: nil), loop: loop)
            loop.pool.add(connection)
            return connection
        }

        /// - Parameter kind: Whether a body is sent, and how the response's is read.
        private static func exchange(_ kind: UInt8, _ loop: WireLoop) async {
            let request = HTTPRequest(kind & 1 == 0 ? .get : .post, url, body: kind & 1 == 0 ? .empty : .bytes([1, 2, 3]))
            let options = ExchangeOptions(delivery: kind & 2 == 0 ? .buffered(upTo: 16 << 10) : .streamed)
            let transfer = WireTransfer(request, options, settings: settings, tls: nil, loop: loop, owner: loop)
            guard let arrived = try? await transfer.response() else { return }
            if kind & 4 == 0 { _ = try? await arrived.response.body.collect() } else { arrived.response.body.close() }
        }

        /// Owns the channel until the connection does.
        private final class Nobody: ChannelOwner {
            func channelIsReady() {}
        }
    }
#endif
