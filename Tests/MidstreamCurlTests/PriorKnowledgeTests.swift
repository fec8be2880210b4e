#if os(Linux)
    import Foundation
    import MidstreamCore
    import TestSupport
    import Testing

    @testable import MidstreamCurl

    /// HTTP/2 without TLS and without asking (RFC 9113 §3.3).
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct PriorKnowledgeTests {
        /// Answers every stream of a connection with 204.
        private static func server() throws -> RawServer {
            try RawServer { connection in
                guard connection.read(24) == Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) else { return }
                connection.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
                while let head = connection.read(9), connection.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])) != nil
                {
                    // The peer's settings, and the end of a request.
                    if head[3] == 4, head[4] & 1 == 0 { connection.write([0, 0, 0, 4, 1, 0, 0, 0, 0]) }
                    let isEnd = (head[3] == 1 || head[3] == 0) && head[4] & 1 == 1
                    // HPACK's static table has ":status: 204" at 9 (RFC 7541 appendix A).
                    if isEnd { connection.write([0, 0, 1, 1, 5] + head[5...] + [0x89]) }
                }
            }
        }

        private let transport: CurlTransport = {
            var configuration = CurlTransport.Configuration()
            configuration.httpVersions = .http2PriorKnowledge
            return curlTransport(configuration: configuration)
        }()

        @Test(arguments: deliveries) func `One request comes after the other`(_ delivery: BodyDelivery) async throws {
            let server = try Self.server()
            for round in 0..<6 {
                var sent = request(server.url, delivery)
                if round.isMultiple(of: 2) {
                    sent.method = .post
                    sent.body = .bytes([1, 2, 3])
                }
                let response = try await transport.deliver(sent)
                #expect(response.status == 204)
                #expect(response.version == .http2)
                #expect(try await response.body.collect().isEmpty)
            }
        }

        @Test func `Several come at a time`() async throws {
            let server = try Self.server()
            try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for _ in 0..<20 { group.addTask { try await transport.deliver(HTTPRequest(server.url)).status } }
                for try await status in group { #expect(status == 204) }
            }
        }
    }
#endif
