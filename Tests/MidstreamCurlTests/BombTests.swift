#if Curl && os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import TestSupport
    import Testing

    @testable import MidstreamCurl

    /// Bodies that are small on the wire and huge decoded.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct BombTests {
        /// Sends gzip of zero bytes until nobody takes it: fixed codes (RFC 1951 §3.2.6), the literal 0, then "258 times the byte
        /// before" in 13 bits each.
        private static func bomb() throws -> RawServer {
            try RawServer { connection in
                while let head = connection.readHead(), !head.hasPrefix("GET /bomb") {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
                var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
                for _ in 0..<16 { bits += [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0] }
                func bytes(_ bits: ArraySlice<UInt8>) -> [UInt8] {
                    stride(from: bits.startIndex, to: bits.endIndex, by: 8).map { start in
                        (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
                    }
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
                connection.write([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3] + bytes(bits[..<(13 * 8)]))
                let chunk = Array(repeatElement(bytes(bits[(13 * 8)..<(26 * 8)]), count: 1_000).joined())
                while connection.write(chunk) {}
            }
        }

        private func transport(_ ratio: Int?) -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            configuration.maximumDecodedRatio = ratio
            return curlTransport(configuration: configuration)
        }

        @Test func `A body that grows too much is refused`() async throws {
            #expect(CurlTransport.Configuration().maximumDecodedRatio == 1_000)
            let server = try Self.bomb()
            for delivery: BodyDelivery in [.streamed, .buffered(upTo: .max)] {
                let error = await #expect(throws: HTTPError.self) {
                    // This one grows 158 times.
                    let response = try await transport(150).deliver(request("\(server.url)/bomb", delivery))
                    for try await _ in response.body {}
                }
                #expect(error?.code == .bodyTooLarge, "\(error as Any)")
                #expect(error?.phase == .answered)
            }
            let error = await #expect(throws: HTTPError.self) {
                try await transport(nil).deliver(request("\(server.url)/bomb", .buffered(upTo: 8 << 20)))
            }
            #expect(error?.code == .bodyTooLarge)
        }

        @Test func `What isn't read isn't decoded, and what is comes in small pieces`() async throws {
            let server = try Self.bomb()
            let transport = transport(nil)
            let loop = try #require(transport.executor as? EventLoop)
            let response = try await transport.deliver(request("\(server.url)/bomb", .streamed))
            await eventually { await onLoop(loop, { loop.active.contains { $0.isReceivingPaused } }) }
            var total = 0
            for try await chunk in response.body {
                #expect(chunk.count <= BodyStream.limit + (64 << 10))
                total += chunk.count
                if total > 64 << 20 { break }
            }
            response.body.close()
        }

        /// Between two looks at the sockets no more is decoded than takes some milliseconds.
        @Test func `Others aren't kept waiting by it`() async throws {
            let server = try Self.bomb()
            let transport = transport(nil)
            let loop = try #require(transport.executor as? EventLoop)
            let url = server.url
            let eater = Task {
                for try await _ in try await transport.deliver(request("\(url)/bomb", .streamed)).body {}
            }
            await eventually { await onLoop(loop, { loop.decoding.most }) != 0 }
            for _ in 0..<50 {
                #expect(try await transport.deliver(request(url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
                #expect(await onLoop(loop) { loop.decoding.most } <= (4 << 20) + (64 << 10))
            }
            eater.cancel()
            _ = await eater.result
        }

        /// What curl hands over again after a pause is refused within another call than what it hands over at first. Nothing but the error
        /// ends these: there is no limit of time.
        @Test func `One that gets too large after a pause fails`() async throws {
            let server = try Self.bomb()
            var configuration = CurlTransport.Configuration()
            (configuration.connectTimeout, configuration.idleTimeout, configuration.maximumDecodedRatio) = (nil, nil, nil)
            let transport = curlTransport(configuration: configuration)
            for limit in [4 << 20, 5 << 20, 9 << 20] {
                let error = await #expect(throws: HTTPError.self) {
                    try await transport.deliver(request("\(server.url)/bomb", .buffered(upTo: limit)))
                }
                #expect(error?.code == .bodyTooLarge)
            }
            #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).body.bytes == Array("ok".utf8))
        }

        /// The bomb uses up its time in each turn, and is the first to go on in the next.
        @Test func `Others that are encoded have their turn, too`() async throws {
            let bomb = try Self.bomb()
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
