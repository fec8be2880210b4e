#if os(Linux)
    import Glibc
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct IdleConnectionsTests {
        /// One whose other side is the second descriptor; nil when the system has no more.
        private static func connection(_ route: Route, by loop: WireLoop) -> (HTTP1Connection, Int32)? {
            guard let pair = try? PairedChannel(in: loop.channels) else { return nil }
            return (HTTP1Connection(pair.channel, route: route, loop: loop), pair.other)
        }

        @Test func `When there are too many, the one that has been unused for longest is closed`() async throws {
            let transport = wireTransport()
            let loop = try #require(transport.executor as? WireLoop)
            let isOpen = await onLoop(loop) {
                let pool = ConnectionPool(mostIdle: 2)
                let routes = ["http://a.invalid/", "http://b.invalid/"].map { Route($0, Routes(TransportConfiguration())) }
                let made = [0, 1, 1].compactMap { Self.connection(routes[$0], by: loop) }
                defer {
                    pool.closeAll()
                    for (_, other) in made { close(other) }
                }
                for (connection, _) in made.prefix(2) { pool.add(connection) }
                // The first one is used once more.
                if let first = pool.take(routes[0]) { pool.add(first) }
                for (connection, _) in made.dropFirst(2) { pool.add(connection) }
                return made.map { !$0.0.channel.isClosed }
            }
            #expect(isOpen == [true, false, true])
        }
    }
#endif
