#if Curl && os(Linux)
    import Foundation
    import Midstream
    import MidstreamCurl
    import MidstreamTesting
    import TestSupport
    import Testing

    @testable import MidstreamCompression

    @Suite("Compressed requests", .leavesNothing, .timeLimit(.minutes(10)))
    struct CompressionTests {
        private static let content = Array(String(repeating: "hello, hello. ", count: 50_000).utf8)
        static let compressions: [Compression] = [.gzip, .zstd].filter(\.isAvailable)

        /// What the machine's own programs make of it.
        private static func decompressed(_ bytes: [UInt8], _ compression: Compression) async throws -> [UInt8] {
            // A response is decoded by the transport.
            let server = try MockServer()
            server.enqueue(.init(headers: ["Content-Encoding": compression.description], body: .bytes(bytes)))
            var configuration = CurlTransport.Configuration()
            configuration.offersZstandard = true
            return try await testClient(transport: curlTransport(configuration: configuration)).send(HTTPRequest(server.url()))
                .body.collect()
        }

        @Test("Bodies of each kind are smaller, and the same when they are decoded", arguments: compressions)
        func bodies(compression: Compression) async throws {
            let content = Self.content
            let pieces = stride(from: 0, to: content.count, by: 9_999).map { Array(content[$0..<min($0 + 9_999, content.count)]) }
            let stream = HTTPBody.stream {
                AsyncStream([UInt8].self) {
                    for piece in pieces { $0.yield(piece) }; $0.finish()
                }
            }
            let once = HTTPBody.once(
                AsyncStream([UInt8].self) {
                    for piece in pieces { $0.yield(piece) }; $0.finish()
                })
            for body: HTTPBody in [.bytes(content), stream, once] {
                let compressed = body.compressed(compression)
                #expect(compressed.replayability == body.replayability)
                let bytes = try await compressed.collect()
                #expect(bytes.count < content.count / 100)
                #expect(try await Self.decompressed(bytes, compression) == content)
            }
            let twice = stream.compressed(compression)
            #expect(try await twice.collect() == twice.collect())
            #expect(
                HTTPBody.text(String(repeating: "a", count: 100)).compressed(compression).contentType
                    == "text/plain; charset=utf-8")
            #expect(HTTPBody.empty.compressed(compression).bytes == [])
        }

        @Test("What can't be compressed is the same, too", arguments: compressions)
        func random(compression: Compression) async throws {
            let content = (0..<300_000).map { _ in UInt8.random(in: 0...255) }
            let bytes = try await HTTPBody.stream {
                AsyncStream([UInt8].self) {
                    $0.yield(content); $0.finish()
                }
            }.compressed(compression).collect()
            #expect(try await Self.decompressed(bytes, compression) == content)
        }

        @Test("Requests say how they are compressed; short ones and encoded ones stay")
        func requests() async throws {
            let server = try MockServer()
            server.respond { _ in .init() }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            _ = try await client.send(HTTPRequest(.post, "/", body: .bytes(Self.content)))
            _ = try await client.send(HTTPRequest(.post, "/", body: .text("short")))
            _ = try await client.send(HTTPRequest(.post, "/", headers: ["Content-Encoding": "br"], body: .bytes(Self.content)))
            _ = try await client.send(HTTPRequest("/"))
            let requests = server.requests
            #expect(requests.map { $0.headers[.contentEncoding] } == ["gzip", nil, "br", nil])
            #expect(requests[0].bodyLength < 10_000 && requests[0].headers[.contentLength] != nil)
            #expect(requests[1].text == "short" && requests[2].body == Self.content)
        }

        @Test("After a 415 the body is sent as it is, and from then on to that origin")
        func refusal() async throws {
            let server = try MockServer()
            server.respond { $0.headers[.contentEncoding] == nil ? .init() : .init(status: 415) }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            let request = HTTPRequest(.post, "/", body: .bytes(Self.content))
            let response = try await client.send(request)
            #expect(response.trace.description.contains("sent again as it is, after a 415"))
            _ = try await client.send(request)
            #expect(server.requests.map { $0.headers[.contentEncoding] } == ["gzip", nil, nil])
            #expect(server.requests.last?.body == Self.content)
            let other = testClient(baseURL: server.url()) { CompressRequests() }
            let once = HTTPBody.once(
                AsyncStream([UInt8].self) {
                    $0.yield(Self.content); $0.finish()
                })
            #expect(await httpError { try await other.send(HTTPRequest(.post, "/", body: once)) }?.response?.status.code == 415)
        }
    }
#endif
