import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamSigning

@Suite("Responses are checked against their digests", .leavesNothing, .timeLimit(.minutes(10))) struct VerifyDigestTests {
    private static let content = Array("{\"hello\": \"world\"}\n".utf8)

    private static func field(_ algorithm: DigestAlgorithm = .sha256, of bytes: [UInt8] = content) -> String {
        (try? algorithm.field(algorithm.digest(of: bytes))) ?? ""
    }

    private static let wrong = field(of: [1])

    private let server: MockServer
    private let client: HTTPClient

    init() throws {
        server = try MockServer()
        client = testClient(baseURL: server.url()) { VerifyDigest() }
    }

    /// What comes of an answer, in memory and streamed; nil: it passes.
    private func codes(
        _ response: MockServer.Response, _ request: HTTPRequest = HTTPRequest("/"), by client: HTTPClient? = nil
    ) async throws -> Set<HTTPError.Code?> {
        let client = client ?? self.client
        var codes: Set<HTTPError.Code?> = []
        for isStreamed in [false, true] {
            server.enqueue(response)
            do {
                if isStreamed {
                    _ = try await client.stream(request).body.collect()
                } else {
                    _ = try await client.send(request)
                }
                codes.insert(nil)
            } catch let error as HTTPError {
                codes.insert(error.code)
            }
        }
        return codes
    }

    private func answer(_ fields: HTTPHeaders, status: HTTPStatus = .ok, body: [UInt8] = content) -> MockServer.Response {
        .init(status: status, headers: fields, body: .bytes(body))
    }

    static let names: [HTTPHeaders.Name] = ["Content-Digest", "Repr-Digest", "Unencoded-Digest"]

    @Test("Right and wrong digests, of each field", arguments: names)
    func rightAndWrong(name: HTTPHeaders.Name) async throws {
        #expect(try await codes(answer([name: Self.field()])) == [nil])
        #expect(try await codes(answer([name: Self.field(.sha512)])) == [nil])
        #expect(try await codes(answer([name: Self.wrong])) == [.digestMismatch])
        #expect(try await codes(answer([name: Self.field(.sha512, of: [1])])) == [.digestMismatch])
        // A list without members names no encoding.
        #expect(try await codes(answer([name: Self.wrong, "Content-Encoding": ""])) == [.digestMismatch])
        #expect(try await codes(answer([name: Self.field()], body: [])) == [.digestMismatch])
        #expect(try await codes(answer([name: Self.field(of: [])], body: [])) == [nil])
    }

    @Test("Of two functions both have to be right")
    func bothFunctions() async throws {
        #expect(try await codes(answer(["Repr-Digest": "\(Self.field()), \(Self.field(.sha512))"])) == [nil])
        #expect(try await codes(answer(["Repr-Digest": "\(Self.field()), \(Self.field(.sha512, of: [1]))"])) == [.digestMismatch])
        #expect(try await codes(answer(["Repr-Digest": Self.field(), "Content-Digest": Self.wrong])) == [.digestMismatch])
    }

    @Test("No digest, an unknown function and a field that can't be read pass, with a note")
    func nothingToCheck() async throws {
        #expect(try await codes(answer([:])) == [nil])
        #expect(try await codes(answer(["Repr-Digest": "md5=:AAAA:"])) == [nil])
        #expect(try await codes(answer(["Repr-Digest": "sha-256=:AA"])) == [nil])
        server.enqueue(answer(["Repr-Digest": "sha-256=nonsense", "Content-Digest": Self.field()]))
        let trace = try await client.send(HTTPRequest("/")).trace.description
        #expect(trace.contains("checks Content-Digest by sha-256, ignored a Repr-Digest that can't be read"))
    }

    @Test("A streamed body is told to be another in place of its end, and again after that")
    func inPlaceOfTheEnd() async throws {
        let pieces = Self.content.map { [$0] }
        server.enqueue(.init(headers: ["Content-Digest": Self.wrong], body: .chunked(pieces)))
        let body = try await client.stream(HTTPRequest("/")).body
        var read: [UInt8] = []
        var chunks = body.makeAsyncIterator()
        let error = await httpError { while let chunk = try await chunks.next() { read += chunk } }
        #expect(read == Self.content)
        #expect(error?.code == .digestMismatch)
        let digests = [try DigestAlgorithm.sha256.digest(of: Self.content), try DigestAlgorithm.sha256.digest(of: [1])]
        #expect(digests.allSatisfy { error?.message.contains($0.hexadecimal) == true })
        #expect(await httpError { try await chunks.next() }?.code == .digestMismatch)
    }

    @Test("After the body, announced or not", arguments: [true, false])
    func trailers(isAnnounced: Bool) async throws {
        func answer(_ field: String, in head: HTTPHeaders = [:]) -> MockServer.Response {
            var headers = head
            if isAnnounced { headers["Trailer"] = "Content-Digest" }
            return .init(headers: headers, body: .chunked([Self.content]), trailers: ["Content-Digest": field])
        }
        #expect(try await codes(answer(Self.field())) == [nil])
        #expect(try await codes(answer(Self.wrong)) == [.digestMismatch])
        #expect(try await codes(answer(Self.field(.sha512, of: [1]))) == [.digestMismatch])
        #expect(try await codes(answer(Self.wrong, in: ["Repr-Digest": Self.field()])) == [.digestMismatch])
        #expect(try await codes(answer("nonsense")) == [nil])
    }

    @Test("Of a part, its own digest is checked, not that of the whole, whatever its status says", arguments: [206, 200])
    func part(status: Int) async throws {
        func answer(_ digests: HTTPHeaders) -> MockServer.Response {
            var fields = digests
            fields[.contentRange] = "bytes 0-18/40"
            return self.answer(fields, status: HTTPStatus(status))
        }
        var request = HTTPRequest("/")
        request.headers[.range] = "bytes=0-18"
        for request in [request, HTTPRequest("/")] {
            #expect(try await codes(answer(["Content-Digest": Self.field()]), request) == [nil])
            #expect(try await codes(answer(["Content-Digest": Self.wrong]), request) == [.digestMismatch])
            #expect(try await codes(answer(["Repr-Digest": Self.wrong, "Unencoded-Digest": Self.wrong]), request) == [nil])
        }
    }

    /// A server whose first answer breaks off, so that a cache keeps four wrong bytes of it.
    private static func breakingOff(for cache: CacheInterceptor) -> StubTransport {
        StubTransport { request in
            var fields: HTTPHeaders = ["Cache-Control": "max-age=600", "ETag": "\"a\"", "Repr-Digest": Self.field()]
            if request.headers[.range]?.hasPrefix("bytes=4-") == true {
                fields[.contentRange] = "bytes 4-\(Self.content.count - 1)/\(Self.content.count)"
                return HTTPResponse(status: 206, headers: fields, body: .bytes(Array(Self.content[4...])), request: request)
            }
            fields[.contentLength] = "\(Self.content.count)"
            let isFirst = cache.statistics.stored == 0
            let body =
                isFirst ? ArrivingBody([[1, 2, 3, 4]], thenThrowing: HTTPError(.connectionLost)) : ArrivingBody([Self.content])
            return HTTPResponse(
                status: 200, headers: fields, body: .incoming(body, length: Int64(Self.content.count)), request: request)
        }
    }

    /// A client of it that has got the first answer.
    private func clientOfWrongPart(_ cache: CacheInterceptor, _ stub: StubTransport) async throws -> HTTPClient {
        let client = testClient(baseURL: server.url(), transport: stub) {
            cache
            VerifyDigest()
        }
        let cut = try await client.stream(HTTPRequest("/")).body
        #expect(await httpError { try await cut.collect() }?.code == .connectionLost)
        await eventually { cache.statistics.stored == 1 }
        return client
    }

    @Test("What a cache joins of two parts is checked as a whole, and forgotten when it is another")
    func joined() async throws {
        let cache = CacheInterceptor()
        let stub = Self.breakingOff(for: cache)
        let client = try await clientOfWrongPart(cache, stub)
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .digestMismatch)
        let whole = try await client.send(HTTPRequest("/"))
        #expect(whole.body.bytes == Self.content && whole.cacheStatus?.isHit == false)
        #expect(stub.requests.map { $0.headers[.range] } == [nil, "bytes=4-", nil])
    }

    @Test("What a cache joins of two parts is nobody's before it has been checked")
    func joinedUnread() async throws {
        let cache = CacheInterceptor()
        let stub = Self.breakingOff(for: cache)
        let client = try await clientOfWrongPart(cache, stub)
        // For what the server sends, but not for all.
        let configuration = HTTPClient.Configuration(maximumBufferedBody: Self.content.count - 1)
        let other = testClient(baseURL: server.url(), configuration: configuration, transport: stub) {
            cache
            VerifyDigest()
        }
        #expect(await httpError { try await other.send(HTTPRequest("/")) }?.code == .bodyTooLarge)
        let response = try await client.stream(HTTPRequest("/"))
        #expect(response.cacheStatus?.isHit == false)
        #expect(await httpError { try await response.body.collect() }?.code == .digestMismatch)
    }

    @Test(
        "What the answer to a request for a part completes isn't given out unchecked as a whole",
        arguments: [["Range": "bytes=0-"], ["Range": "bytes=4-"], ["Range": "bytes=4-", "If-Range": "\"a\""]] as [HTTPHeaders])
    func completedByPart(fields: HTTPHeaders) async throws {
        let cache = CacheInterceptor()
        let client = try await clientOfWrongPart(cache, Self.breakingOff(for: cache))
        #expect(try await client.send(HTTPRequest("/", headers: fields)).status == .partialContent)
        // Where the wrong bytes are still there they are found to be wrong.
        let first = try? await client.send(HTTPRequest("/"))
        #expect(first?.cacheStatus?.isHit != true)
        #expect(try await client.send(HTTPRequest("/")).body.bytes == Self.content)
    }

    @Test("Where nothing comes, nothing is checked")
    func noContent() async throws {
        #expect(
            try await codes(answer(["Repr-Digest": Self.wrong, "Content-Digest": Self.wrong]), HTTPRequest(.head, "/")) == [nil])
        for status in [204, 304] as [HTTPStatus] {
            #expect(try await codes(answer(["Repr-Digest": Self.wrong], status: status)) == [nil])
        }
    }

    @Test("What comes over a connection that was handed over isn't checked")
    func handedOver() async throws {
        let stub = StubTransport(status: 101, headers: ["Content-Digest": Self.wrong], body: .bytes(Self.content))
        var request = HTTPRequest("/feed")
        request.acceptableStatus = [101]
        let response = try await testClient(baseURL: server.url(), transport: stub) { VerifyDigest() }.stream(request)
        #expect(response.body.bytes == Self.content)
    }

    @Test("Rejected answers are checked, too")
    func rejected() async throws {
        #expect(try await codes(answer(["Repr-Digest": Self.field()], status: 404)) == [.unacceptableStatus])
        server.enqueue(answer(["Repr-Digest": Self.wrong], status: 404))
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .digestMismatch)
    }

    @Test("It asks for digests and for no encoding; a request's own fields stay")
    func request() async throws {
        _ = try await codes(answer([:]))
        var request = HTTPRequest("/", headers: ["Accept-Encoding": "gzip", "Want-Repr-Digest": "sha-512=1"])
        request.headers["X"] = "1"
        _ = try await codes(answer([:]), request)
        let sent = server.requests
        #expect(sent[0].headers[.acceptEncoding] == "identity")
        for name in ["Want-Repr-Digest", "Want-Content-Digest", "Want-Unencoded-Digest"] as [HTTPHeaders.Name] {
            #expect(sent[0].headers[name] == "sha-256=10, sha-512=9")
        }
        #expect(sent[2].headers[.acceptEncoding] == "gzip")
        #expect(sent[2].headers["Want-Repr-Digest"] == "sha-512=1")
    }

    /// `gzip -9` of the content, by the machine's own.
    private static func gzipped() async throws -> [UInt8] {
        let file = temporaryPath("digest-\(UUID().uuidString)")
        try Data(content).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await ChildProcess.run("/bin/gzip", ["-nc", file.path]).output
    }

    @Test("An encoded body that is read as it is")
    func rawEncoded() async throws {
        let coded = try await Self.gzipped()
        let right: HTTPHeaders = [
            "Content-Encoding": "gzip", "Content-Digest": Self.field(of: coded), "Repr-Digest": Self.field(of: coded),
            "Unencoded-Digest": Self.field(),
        ]
        let request = HTTPRequest("/", headers: ["Accept-Encoding": "gzip"])
        #expect(try await codes(answer(right, body: coded), request) == [nil])
        var wrong = right
        wrong["Content-Digest"] = Self.field()
        #expect(try await codes(answer(wrong, body: coded), request) == [.digestMismatch])
    }

    @Test("What comes encoded although nothing was asked for is checked as it comes, and then decoded", arguments: [false, true])
    func encodedUnasked(isChunked: Bool) async throws {
        let coded = try await Self.gzipped()
        func answer(_ digest: String, _ unencoded: String = Self.field()) -> MockServer.Response {
            let fields: HTTPHeaders = ["Content-Encoding": "gzip", "Repr-Digest": digest, "Unencoded-Digest": unencoded]
            guard isChunked else { return self.answer(fields, body: coded) }
            return .init(headers: fields, body: .chunked(coded.map { [$0] }), trailers: ["Content-Digest": digest])
        }
        let right = Self.field(of: coded)
        #expect(try await codes(answer(right)) == [nil])
        #expect(try await codes(answer(Self.wrong)) == [.digestMismatch])
        #expect(try await codes(answer(right, Self.wrong)) == [.digestMismatch])
        // Of what is decoded the digest is another.
        #expect(try await codes(answer(Self.field())) == [.digestMismatch])
        server.enqueue(answer(right))
        let response = try await client.send(HTTPRequest("/"))
        #expect(response.body.bytes == Self.content && response.headers[.contentEncoding] == nil)
        #expect(response.trace.description.contains("checks Repr-Digest by sha-256 before decoding"))
        #expect(server.requests.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
    }

    @Test("A large one that its reader takes slowly, piece by piece")
    func encodedAndLarge() async throws {
        let content = Array(repeating: (0..<64).map { _ in UInt8.random(in: 0...255) }, count: 200_000).flatMap { $0 }
        let coded = HTTPBody.bytes(content).compressed(.gzip).bytes ?? []
        for (digest, expected) in [(Self.field(of: coded), nil), (Self.field(of: content), .digestMismatch)]
            as [(String, HTTPError.Code?)]
        {
            server.enqueue(answer(["Content-Encoding": "gzip", "Content-Digest": digest], body: coded))
            let body = try await client.stream(HTTPRequest("/")).body
            var read = 0
            var code: HTTPError.Code?
            do {
                for try await chunk in body {
                    read += chunk.count
                    await Task.yield()
                }
            } catch let error as HTTPError {
                code = error.code
            }
            #expect(code == expected && read == content.count)
        }
    }

    @Test(
        "A system that decodes unseen leaves the digest of what is decoded",
        arguments: [[:], ["Accept-Encoding": "gzip"]] as [HTTPHeaders])
    func decodedUnseen(asked: HTTPHeaders) async throws {
        let request = HTTPRequest("/", headers: asked)
        let coded = try await Self.gzipped()
        let client = testClient(baseURL: server.url(), transport: urlSessionTransport()) { VerifyDigest() }
        var fields: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Digest": Self.field(of: coded)]
        #expect(try await codes(answer(fields, body: coded), request, by: client) == [nil])
        server.enqueue(answer(fields, body: coded))
        let response = try await client.send(request)
        #expect(response.body.bytes == Self.content)
        #expect(response.trace.description.contains("are of what the system has decoded"))
        fields["Unencoded-Digest"] = Self.wrong
        #expect(try await codes(answer(fields, body: coded), request, by: client) == [.digestMismatch])
    }

    @Test("An encoded body that the transport decodes is checked by the digest of what is decoded")
    func decoded() async throws {
        let coded = try await Self.gzipped()
        let client = testClient(baseURL: server.url()) { VerifyDigest(acceptsEncodings: true) }
        var fields: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Digest": Self.field(of: coded)]
        fields["Repr-Digest"] = Self.field(of: coded)
        fields["Unencoded-Digest"] = Self.field()
        #expect(try await codes(answer(fields, body: coded), by: client) == [nil])
        fields["Unencoded-Digest"] = Self.wrong
        #expect(try await codes(answer(fields, body: coded), by: client) == [.digestMismatch])
        #expect(server.requests.allSatisfy { $0.headers[.acceptEncoding]?.contains("gzip") == true })
        #expect(server.requests.allSatisfy { $0.headers["Want-Content-Digest"] == nil })
    }

    @Test("What its transport leaves encoded isn't checked by the digest of what it encodes")
    func leftEncoded() async throws {
        let fields: HTTPHeaders = ["Content-Encoding": "unknown", "Unencoded-Digest": Self.field()]
        let stub = StubTransport(status: .ok, headers: fields, body: .bytes([1, 2]))
        let client = testClient(baseURL: server.url(), transport: stub) { VerifyDigest(acceptsEncodings: true) }
        #expect(try await client.send(HTTPRequest("/")).body.bytes == [1, 2])
    }
}
