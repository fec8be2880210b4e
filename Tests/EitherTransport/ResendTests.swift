#if os(Linux)
    import Foundation
    import Interception
    import MidstreamCore
    import MidstreamLoop
    import TestSupport
    import Testing

    /// Curl sends a request again by itself when a kept connection dies under it before an answer (RFC 9110 §9.2.2).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ResendTests {
        private let transport = testedTransport()

        @Test(arguments: deliveries) func `What curl sends again is counted, and told in the trace`(_ delivery: BodyDelivery)
            async throws
        {
            let server = try MortalServer()
            let client = testClient(transport: transport)
            func send() async throws -> HTTPResponse {
                let request = HTTPRequest(server.url)
                guard delivery == .streamed else { return try await client.send(request) }
                return try await client.stream(request)
            }
            let first = try await send()
            _ = try await first.body.collect()
            #expect(first.metrics?.resends == 0)
            #expect(!first.trace.description.contains("again"))
            let second = try await send()
            #expect(second.trace.description.contains("sent again by the transport"))
            #expect(try await second.body.collect() == Array("ok".utf8))
            #expect(second.metrics?.resends == 1)
            #expect(second.metrics?.total != nil)
            #expect(server.requests == ["GET / HTTP/1.1", "GET / HTTP/1.1", "GET / HTTP/1.1"])
        }

        @Test func `What is sent again is charged to the retry budget`() async throws {
            let server = try MortalServer()
            let client = testClient(transport: transport)
            for _ in 1...2 { _ = try await client.send(HTTPRequest(server.url)) }
            #expect(client.retryBudget?.retries == 1)
        }

        @Test func `A body that is unsafe to repeat reaches the server once, however much of it has been sent`() async throws {
            let bytes = [UInt8](repeating: 7, count: 4 << 20)
            let bodies: [HTTPBody] = [
                .bytes([1]), .bytes(bytes), .stream(length: Int64(bytes.count)) { [bytes].stream }, .stream { [bytes].stream },
            ]
            for body in bodies {
                let server = try MortalServer()
                _ = try await transport.deliver(HTTPRequest(server.url))
                let error = await #expect(throws: HTTPError.self) {
                    try await transport.deliver(HTTPRequest(.post, server.url, body: body))
                }
                #expect(error?.code == .connectionLost)
                #expect(error?.phase == .maybeProcessed)
                #expect(server.requests == ["GET / HTTP/1.1", "POST / HTTP/1.1"])
            }
        }

        @Test func `What is sent again is sent from its beginning, or not at all`() async throws {
            let pieces = (0..<64).map { [UInt8](repeating: $0, count: 10_000) }
            let bodies: [HTTPBody] = [
                .bytes(Array(pieces.joined())), .stream(length: 640_000) { pieces.stream }, .stream { pieces.stream },
                .once(pieces.stream),
            ]
            for body in bodies {
                let server = try MortalServer()
                _ = try await transport.deliver(HTTPRequest(server.url))
                do {
                    let response = try await transport.deliver(HTTPRequest(.put, server.url, body: body))
                    #expect(response.status == 200)
                    #expect(server.lastBody == Array(pieces.joined()))
                } catch let error as HTTPError {
                    #expect(error.code == .connectionLost)
                    #expect(error.phase == .maybeProcessed)
                    #expect(server.lastBody.isEmpty, "No part of it passes for the whole.")
                }
            }
        }
    }

    /// Answers the first request of its first connection and closes it when the head of a second one has come; serves later
    /// connections well.
    private final class MortalServer: Sendable {
        private struct State {
            var connections = 0
            var requests: [String] = []
            var lastBody: [UInt8] = []
        }

        private let server: RawServer
        private let state = Locked(State())

        var url: String { server.url }
        var requests: [String] { state.withLock { $0.requests } }
        /// The last body that has come whole.
        var lastBody: [UInt8] { state.withLock { $0.lastBody } }

        init() throws {
            server = try RawServer { [state] connection in
                let isMortal = state.withLock { state in
                    state.connections += 1
                    return state.connections == 1
                }
                var isFirst = true
                while let head = connection.readHead() {
                    let line = head.components(separatedBy: "\r\n")[0]
                    state.withLock { $0.requests.append(line) }
                    guard isFirst || !isMortal, let request = connection.readBody(after: head) else { return }
                    isFirst = false
                    state.withLock { $0.lastBody = request.body }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }
#endif
