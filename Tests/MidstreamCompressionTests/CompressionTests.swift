#if os(Linux)
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

        @Test(
            "A stream that isn't as long as it was said to be doesn't pass for a whole one",
            arguments: compressions, [4, 6] as [Int64])
        func wrongLength(compression: Compression, length: Int64) async throws {
            let chunks = AsyncStream([UInt8].self) {
                $0.yield([1, 2]); $0.yield([3, 4, 5]); $0.finish()
            }
            let error = await httpError { try await HTTPBody.once(chunks, length: length).compressed(compression).collect() }
            #expect(error?.code == .bodyUnreadable)
        }

        @Test("A file that is cut meanwhile doesn't pass for a whole one", arguments: compressions)
        func cutFile(compression: Compression) async throws {
            let folder = try TemporaryFolder()
            let file = try folder.file((0..<500_000).map { _ in UInt8.random(in: 0...255) })
            var chunks = HTTPBody.file(file).compressed(compression).makeAsyncIterator()
            #expect(try await chunks.next() != nil)
            try FileHandle(forWritingTo: file).truncate(atOffset: 1_000)
            let error = await httpError { while try await chunks.next() != nil {} }
            #expect(error?.code == .bodyUnreadable)
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

        @Test(
            "What zlib is given in several pieces, since it counts in 32 bits, is compressed as a whole",
            arguments: [1, 999, 1_000])
        func largerThanZlibCounts(most: Int) async throws {
            let content = Array(Self.content.prefix(10_000))
            let compressor = try #require(GzipCompressor(most: most))
            let bytes = try compressor.compress(content, .goOn) + compressor.compress([], .end)
            #expect(try await Self.decompressed(bytes, .gzip) == content)
            let whole = try #require(GzipCompressor(most: most)).compress(content, .end)
            #expect(try await Self.decompressed(whole, .gzip) == content)
        }

        @Test("A live body comes out as it goes in", arguments: compressions)
        func live(compression: Compression) async throws {
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            let server = try MockServer()
            var chunks = HTTPBody.once(stream).compressed(compression).makeAsyncIterator()
            var sent: [UInt8] = []
            for number in 1...3 {
                continuation.yield(Array("line \(number)\n".utf8))
                continuation.yield(Array("and more\n".utf8))
                // Comes although the source waits.
                while try await Self.readable(sent, compression, server).count < number * 16 {
                    sent += try #require(try await chunks.next())
                }
            }
            continuation.finish()
            while let chunk = try await chunks.next() { sent += chunk }
            #expect(try await Self.decompressed(sent, compression).count == 48)
            #expect(try await chunks.next() == nil)
        }

        /// What can be decoded of the beginning of a compressed body.
        private static func readable(_ bytes: [UInt8], _ compression: Compression, _ server: MockServer) async throws -> [UInt8] {
            if bytes.isEmpty { return [] }
            server.enqueue(.init(headers: ["Content-Encoding": compression.description], body: .bytes(bytes)))
            var configuration = CurlTransport.Configuration()
            configuration.offersZstandard = true
            let client = testClient(transport: curlTransport(configuration: configuration))
            var read: [UInt8] = []
            do {
                for try await chunk in try await client.stream(HTTPRequest(server.url())).body { read += chunk }
            } catch let error as HTTPError where error.code == .decoding {
                // It isn't at its end.
            }
            return read
        }

        @Test("A live body ends when its reader is cancelled")
        func liveAndCancelled() async throws {
            let (silent, _) = AsyncStream.makeStream(of: [UInt8].self)
            let reading = Task { try await HTTPBody.once(silent).compressed(.gzip).collect() }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
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

        @Test("A body that can be read once isn't begun a second time")
        func once() async throws {
            let server = try MockServer()
            server.respond { _ in .init() }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            let once = HTTPBody.once(
                AsyncStream([UInt8].self) {
                    $0.yield(Self.content); $0.finish()
                })
            let request = HTTPRequest(.post, "/", body: once)
            _ = try await client.send(request)
            let error = await httpError { try await client.send(request) }
            #expect(error?.code == .bodyNotReplayable && error?.phase == .notSent)
            #expect(server.requestCount == 1)
        }

        @Test("Uploads that go on by offsets are sent as they are", arguments: [UploadProtocol.tus, .resumable])
        func uploads(kind: UploadProtocol) async throws {
            let content = (0..<100_000).map { UInt8(ascii: "a") + UInt8($0 % 16) }
            let server = try MockServer()
            server.respond { request in
                guard request.method == .patch else { return .init(status: 201, headers: ["Location": "/uploads/1"]) }
                let start = Int(request.headers["Upload-Offset"] ?? "") ?? 0
                return .init(status: 204, headers: ["Upload-Offset": "\(start + request.bodyLength)"])
            }
            let client = testClient(baseURL: server.url()) { CompressRequests(.gzip) }
            try await client.upload(.bytes(content), to: "/uploads", protocol: kind)
            #expect(server.requests.flatMap(\.body) == content)
            #expect(server.requests.allSatisfy { $0.headers[.contentEncoding] == nil })
        }

        @Test(
            "Digests of what isn't compressed aren't sent with what is",
            arguments: ["Content-Digest", "Repr-Digest", "Content-MD5", "Digest"] as [HTTPHeaders.Name])
        func digests(name: HTTPHeaders.Name) async throws {
            let server = try MockServer()
            server.respond { $0.headers[.contentEncoding] == nil ? .init() : .init(status: 415) }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            var request = HTTPRequest(.post, "/", body: .bytes(Self.content))
            request.headers[name] = "x"
            _ = try await client.send(request)
            // The second one is as it was.
            #expect(server.requests.map { $0.headers[name] } == [nil, "x"])
        }

        @Test("A part of a body is sent as it is, as its range says")
        func part() async throws {
            let server = try MockServer()
            server.respond { _ in .init() }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            let range = "bytes 0-\(Self.content.count - 1)/1000000"
            _ = try await client.send(HTTPRequest(.put, "/", headers: ["Content-Range": range], body: .bytes(Self.content)))
            let request = try #require(server.requests.first)
            #expect(request.headers[.contentEncoding] == nil && request.body == Self.content)
        }

        @Test("A refusal counts for its endpoint, for an hour, and only if the coding was the reason")
        func refusalOfOne() async throws {
            let server = try MockServer()
            server.respond { request in
                let isPlain = request.headers[.contentEncoding] == nil
                return .init(status: request.path == "/never" || request.path.hasPrefix("/plain") && !isPlain ? 415 : 200)
            }
            let clock = TestClock()
            var configuration = HTTPClient.Configuration()
            configuration.clock = clock
            configuration.timeout = .unlimited
            let client = testClient(baseURL: server.url(), configuration: configuration) { CompressRequests() }
            func codings(_ url: RequestURL) async throws -> [String?] {
                let before = server.requestCount
                _ = try? await client.send(HTTPRequest(.post, url, body: .bytes(Self.content)))
                return server.requests.dropFirst(before).map { $0.headers[.contentEncoding] }
            }
            #expect(try await codings("/plain?a=1") == ["gzip", nil])
            #expect(try await codings("/plain?a=2") == [nil])
            #expect(try await codings("/other") == ["gzip"])
            let (first, second) = (1, 2)
            #expect(try await codings("/plain/\(first)") == ["gzip", nil])
            #expect(try await codings("/plain/\(second)") == [nil])
            for _ in 1...2 { #expect(try await codings("/never") == ["gzip", nil]) }
            clock.advance(by: .seconds(3_600))
            #expect(try await codings("/plain?a=1") == ["gzip", nil])
        }

        @Test("After a 415 the body is sent as it is, and from then on at once")
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

        @Test("Cookies of a 415 are kept, and the request as it is brings them")
        func cookiesOfRefusal() async throws {
            let server = try MockServer()
            server.respond { request in
                request.headers[.contentEncoding] == nil ? .init() : .init(status: 415, headers: [.setCookie: "a=1"])
            }
            let client = testClient(baseURL: server.url()) {
                CookieInterceptor()
                CompressRequests().at(.exchange)
            }
            _ = try await client.send(HTTPRequest(.post, "/", body: .bytes(Self.content)))
            #expect(server.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
        }

        @Test("A POST isn't sent again because what its answer led to is refused")
        func redirectedPost() async throws {
            let server = try MockServer()
            server.respond { request in
                request.path == "/7" ? .init(status: 415) : .init(status: .seeOther, headers: ["Location": "/7"])
            }
            let client = testClient(baseURL: server.url()) { CompressRequests() }
            let error = await httpError { try await client.send(HTTPRequest(.post, "/", body: .bytes(Self.content))) }
            #expect(error?.response?.status.code == 415)
            #expect(server.requests.map(\.method) == [.post, .get])
        }
    }
#endif
