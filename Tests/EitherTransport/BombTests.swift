#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Bodies that are small on the wire and huge decoded.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct BombTests {
        private func transport(_ ratio: Int?) -> any LoopTransport {
            var configuration = TransportConfiguration()
            configuration.maximumDecodedRatio = ratio
            configuration.offersZstandard = true
            return testedTransport(configuration: configuration)
        }

        /// How much may go through decoders in a turn: its steps' work, and the last of them beyond that, of one coding or two.
        private static let mostInATurn = (1 << 20) + (64 << 10) + (16 << 10) + (16 << 10) + 256

        @Test(arguments: Bomb.all) func `A body that grows too much is refused`(_ bomb: Bomb) async throws {
            #expect(TransportConfiguration().maximumDecodedRatio == 1_000)
            let server = try bomb.server()
            // What is refused after a pause may be handed over once more before the transfer ends.
            for _ in 0..<10 {
                let error = await #expect(throws: HTTPError.self) {
                    // That of gzip grows 158 times.
                    try await transport(150).deliver(request("\(server.url)/bomb", .buffered(upTo: .max)))
                }
                #expect(error?.code == .bodyTooLarge, "\(error as Any)")
                #expect(error?.phase == .answered)
            }
            let error = await #expect(throws: HTTPError.self) {
                try await transport(nil).deliver(request("\(server.url)/bomb", .buffered(upTo: 8 << 20)))
            }
            #expect(error?.code == .bodyTooLarge)
        }

        @Test(arguments: Bomb.all) func `One that is watched on its way into memory is refused as well`(_ bomb: Bomb)
            async throws
        {
            let server = try bomb.server()
            let client = testClient(transport: transport(150))
            var watched = HTTPRequest(.get, server.url + "/bomb")
            watched.isWatchedArriving = true
            let error = await httpError { [watched] in try await client.send(watched) }
            #expect(error?.code == .bodyTooLarge && error?.message.contains("150 times") == true, "\(error as Any)")
        }

        @Test(arguments: Bomb.all) func `What isn't read isn't decoded, and what is comes in small pieces`(_ bomb: Bomb)
            async throws
        {
            let server = try bomb.server()
            // No ratio limits a stream.
            let transport = transport(150)
            let loop = try #require(transport.executor as? EventLoop)
            let response = try await transport.deliver(request("\(server.url)/bomb", .streamed))
            await eventually { await onLoop(loop, { loop.active.contains { $0.isReceivingPaused } }) }
            var total = 0
            for try await chunk in response.body {
                #expect(chunk.count <= BodyStream.limit + (64 << 10))
                #expect(chunk.first == 0 && chunk.last == 0)
                total += chunk.count
                if total >= 64 << 20 { break }
            }
            #expect(total >= 64 << 20)
            #expect(await onLoop(loop) { loop.decoding.most } <= Self.mostInATurn)
            response.body.close()
        }

        /// Between two looks at the sockets no more is decoded than takes some milliseconds.
        @Test func `Others aren't kept waiting by it`() async throws {
            let server = try Bomb.gzip.server()
            let transport = transport(nil)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let eater = Task {
                for try await _ in try await transport.deliver(request("\(url)/bomb", .streamed)).body {}
            }
            await eventually { await onLoop(loop, { loop.decoding.most }) != 0 }
            for _ in 0..<50 {
                #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
                #expect(await onLoop(loop) { loop.decoding.most } <= Self.mostInATurn)
            }
            eater.cancel()
            _ = await eater.result
        }

        /// What curl hands over again after a pause is refused within another call than what it hands over at first. Nothing but the error
        /// ends these: there is no limit of time.
        @Test(arguments: Bomb.all) func `One that gets too large after a pause fails`(_ bomb: Bomb) async throws {
            let server = try bomb.server()
            var configuration = TransportConfiguration()
            configuration.offersZstandard = true
            (configuration.connectTimeout, configuration.idleTimeout, configuration.maximumDecodedRatio) = (nil, nil, nil)
            let transport = testedTransport(configuration: configuration)
            for limit in [4 << 20, 5 << 20, 9 << 20] {
                let error = await httpError { try await transport.deliver(request("\(server.url)/bomb", .buffered(upTo: limit))) }
                #expect(error?.code == .bodyTooLarge)
            }
            #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
        }

        /// The bomb uses up its time in each turn, and is the first to go on in the next.
        @Test func `Others that are encoded have their turn, too`() async throws {
            let bomb = try Bomb.gzip.server()
            let small = try RawServer { connection in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n\r\n")
                    connection.write([31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 6, 0, 71, 221, 220, 121, 2, 0, 0, 0])
                }
            }
            let url = bomb.url
            // Where the threads of all have to share few processors, one may be over before the small ones have been asked for.
            for _ in 0..<10 {
                let transport = transport(nil)
                let loop = try #require(transport.executor as? EventLoop)
                let isOver = Locked(false)
                let eater = Task {
                    defer { isOver.withLock { $0 = true } }
                    _ = try await transport.deliver(request("\(url)/bomb", .buffered(upTo: 512 << 20)))
                }
                await eventually { await onLoop(loop, { loop.decoding.most }) != 0 }
                for _ in 0..<5 {
                    let response = try await transport.deliver(request(small.url, .streamed))
                    #expect(try await response.body.collect() == Array("ok".utf8))
                }
                let hadTheirTurn = !isOver.withLock { $0 }
                eater.cancel()
                _ = await eater.result
                if hadTheirTurn { return }
            }
            Issue.record("They were kept waiting until there was nothing left of it, each time.")
        }
    }
#endif
