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
            try RawServer.http2 { peer in
                guard peer.begin() else { return }
                let (head, flags) = ([HPACKField(":status", "204")], HTTP2Frame.endHeaders | HTTP2Frame.endStream)
                while let stream = peer.nextRequest() { peer.write(HTTP2Frame.headers(head, flags, stream: stream)) }
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
