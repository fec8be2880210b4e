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
                let error = await httpError { try await transport.deliver(HTTPRequest(.post, server.url, body: body)) }
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

    /// What libcurl would send again although it has an answer.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct AnsweredRequestTests {
        /// HTTP_1_1_REQUIRED within a body.
        @Test func `What a server has begun to answer by HTTP/2 isn't sent again by HTTP/1.1`() async throws {
            let (requests, mayBreakOff) = (Locked(0), DispatchSemaphore(value: 0))
            let server = try RawServer.http2 { peer in
                guard peer.speaksHTTP2 else {
                    while peer.connection.readRequest() != nil {
                        requests.withLock { $0 += 1 }
                        peer.connection.write(RawServer.okResponse)
                    }
                    return
                }
                guard peer.begin(), let stream = peer.nextRequest() else { return }
                requests.withLock { $0 += 1 }
                peer.write(HTTP2Frame.headers([.ok], stream: stream) + HTTP2Frame.data("ok", stream: stream))
                mayBreakOff.wait()
                peer.write(HTTP2Frame.reset(13, stream: stream))
                peer.connection.waitForEnd()
            }
            var sent = request(server.url, .streamed)
            sent.method = .post
            sent.body = .bytes([1, 2, 3])
            let response = try await HTTP2Wire(tls: nil).transport().deliver(sent)
            mayBreakOff.signal()
            let error = await #expect(throws: HTTPError.self) { _ = try await response.body.collect() }
            #expect(error?.code == .connectionLost && error?.phase == .answered)
            #expect(requests.withLock { $0 } == 1)
        }

        /// RFC 9110 §15.5.18, on a connection that stays.
        @Test(arguments: deliveries) func `A refused expectation isn't sent again`(_ delivery: BodyDelivery) async throws {
            let requests = Locked(0)
            let server = try RawServer { connection in
                while connection.readHead() != nil {
                    requests.withLock { $0 += 1 }
                    connection.write("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                }
            }
            var sent = request(server.url, delivery)
            sent.method = .post
            sent.headers = ["Expect": "100-continue"]
            sent.body = .bytes([1, 2, 3])
            let response = try await testedTransport().deliver(sent)
            #expect(response.status == 417)
            let body = try await response.body.collect()
            // libcurl throws it away.
            #expect(body.isEmpty || body == Array("no".utf8))
            #expect(requests.withLock { $0 } == 1)
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
                    connection.write(RawServer.okResponse)
                }
            }
        }
    }
#endif
