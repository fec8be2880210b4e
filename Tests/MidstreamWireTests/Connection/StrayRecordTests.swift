#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    @testable import MidstreamWire

    /// See `StrayBytesTests` for what comes without TLS. Libcurl 8.23 doesn't pass this.
    @Suite(.leavesNothing, .enabled(if: Servers.areRunning, "run by Scripts/with-servers"), .timeLimit(.minutes(10)))
    struct StrayRecordTests {
        /// A server whose first answer is followed by a farewell in a record of its own, or by a part of that; all of it is in the hands of
        /// this machine's kernel before the loop reads any.
        private final class Server: Sendable {
            let raw: RawServer
            private let hasRead = DispatchSemaphore(value: 0)
            private let isHeld = DispatchSemaphore(value: 0)
            private let hasSpoken: DispatchSemaphore

            init(farewell: Int) throws {
                let tls = try TLSServer(certificate: Servers["CLIENT_CERT"], key: Servers["CLIENT_KEY"])
                // A record holds 16 KiB (RFC 8446 §5.1): the response, and the farewell in another one.
                let head = "HTTP/1.1 200 OK\r\nContent-Length: "
                let length = 16_384 - head.utf8.count - "16000\r\n\r\n".utf8.count
                let response = "\(head)\(length)\r\n\r\n" + String(repeating: "a", count: length)
                let (hasRead, isHeld, hasSpoken) = (hasRead, isHeld, DispatchSemaphore(value: 0))
                self.hasSpoken = hasSpoken
                raw = try RawServer(tls: tls) { connection in
                    guard connection.readHead() != nil else { return }
                    hasRead.signal()
                    isHeld.wait()
                    connection.write(
                        response + String(repeating: "HTTP/1.1 408 No\r\nContent-Length: 0\r\n\r\n", count: farewell))
                    hasSpoken.signal()
                    // Until the connection is closed, or used again.
                    _ = connection.readHead()
                }
            }

            /// Called on the loop's thread: returns when there is something to be read.
            func hold() {
                isHeld.signal()
                hasSpoken.wait()
            }

            /// Off the threads of tasks, which the request needs.
            func awaitRequest() async {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread { [hasRead] in
                        hasRead.wait()
                        continuation.resume()
                    }
                }
            }
        }

        @Test(arguments: [1, 300]) func `A farewell in the next record of TLS answers no request`(farewell: Int) async throws {
            let server = try Server(farewell: farewell)
            var configuration = TransportConfiguration(httpVersions: .http1Only, usesCallersThreads: false)
            configuration.tls.verifiesCertificates = false
            let transport = wireTransport(configuration: configuration)
            let loop = try #require(transport.executor as? WireLoop)
            for _ in 0..<3 {
                async let response = transport.deliver(request(server.raw.url, .buffered(upTo: 1 << 20)))
                await server.awaitRequest()
                await onLoop(loop) { server.hold() }
                #expect(try await response.status == .ok)
            }
            #expect(server.raw.accepted == 3)
        }

        @Test func `It answers no request that waits for a connection of its own`() async throws {
            let server = try Server(farewell: 1)
            let resolver = HoldingResolver(holding: 2)
            defer { resolver.gate.open() }
            var configuration = TransportConfiguration(
                resolver: resolver.addresses, httpVersions: .http1Only, usesCallersThreads: false)
            configuration.tls.verifiesCertificates = false
            let transport = wireTransport(configuration: configuration)
            let loop = try #require(transport.executor as? WireLoop)
            let url = "https://h.invalid:\(server.raw.port)/"
            async let first = transport.deliver(request(url, .buffered(upTo: 1 << 20)))
            await server.awaitRequest()
            async let second = transport.deliver(request(url, .buffered(upTo: 1 << 20)))
            await resolver.gate.reached()
            await onLoop(loop) { server.hold() }
            #expect(try await first.status == .ok)
            let stillWaits = await onLoop(loop) { loop.active.first?.wire.connection is Dial }
            try #require(stillWaits)
            resolver.gate.open()
            await server.awaitRequest()
            await onLoop(loop) { server.hold() }
            #expect(try await second.status == .ok)
            #expect(server.raw.accepted == 2)
        }
    }
#endif
