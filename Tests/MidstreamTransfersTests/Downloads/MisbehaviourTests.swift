import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

/// What servers have been seen to answer when they are asked for the rest of something.
@Suite("Downloads from servers that misbehave", .leavesNothing, .timeLimit(.minutes(10)))
struct MisbehaviourTests {
    private static let content = FileServer.content(200_000)
    private static let other = FileServer.content(200_000, seed: 2)
    private let server: FileServer
    private let folder: TemporaryFolder

    init() throws {
        server = try FileServer(Self.content)
        folder = try TemporaryFolder()
    }

    typealias Answer = @Sendable (inout MockServer.Response) -> Void

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: Answer
        /// How many requests it takes in all.
        var requests = 2
        var code: HTTPError.Code?
    }

    private static func part(
        _ first: Int, _ last: Int = 199_999, of total: String = "200000", _ change: @escaping Answer = { _ in }
    ) -> Answer {
        {
            $0 = .init(
                status: 206, headers: ["ETag": "\"1\"", "Content-Range": "bytes \(first)-\(last)/\(total)"],
                body: .bytes(content[first...min(last, 199_999)]))
            change(&$0)
        }
    }

    static let cases: [Case] = [
        Case(testDescription: "an earlier start", answer: part(30_000)),
        Case(testDescription: "the very start", answer: part(0)),
        Case(testDescription: "a later start", answer: part(60_000), requests: 3),
        Case(testDescription: "an unknown total", answer: part(50_000, of: "*"), requests: 2),
        Case(testDescription: "another total", answer: part(50_000, of: "200001"), requests: 3),
        Case(testDescription: "less than was asked for", answer: part(50_000, 99_999), requests: 3),
        Case(testDescription: "nothing new", answer: part(0, 49_999), requests: 3),
        Case(testDescription: "another tag", answer: part(50_000) { $0.headers[.etag] = "\"2\"" }, requests: 3),
        Case(testDescription: "a weak tag", answer: part(50_000) { $0.headers[.etag] = "W/\"1\"" }, requests: 3),
        Case(testDescription: "no tag", answer: part(50_000) { $0.headers[.etag] = nil }, requests: 3),
        Case(testDescription: "no Content-Range", answer: part(50_000) { $0.headers[.contentRange] = nil }, requests: 3),
        Case(
            testDescription: "two Content-Ranges", answer: part(50_000) { $0.headers.add(.contentRange, "bytes 0-1/2") },
            requests: 3),
        Case(testDescription: "another unit", answer: part(50_000) { $0.headers[.contentRange] = "seconds 1-2/3" }, requests: 3),
        Case(
            testDescription: "several ranges",
            answer: part(50_000) {
                $0.headers = ["Content-Type": "multipart/byteranges; boundary=b"]
                $0.body = "--b\r\nContent-Range: bytes 50000-50000/200000\r\n\r\nx\r\n--b--"
            }, requests: 3),
        Case(testDescription: "the whole, as 200", answer: { $0 = .init(headers: ["ETag": "\"1\""], body: .bytes(content)) }),
        Case(testDescription: "the part, as 200", answer: part(50_000) { $0.status = .ok }),
        Case(testDescription: "a part that doesn't fit, as 200", answer: part(60_000) { $0.status = .ok }, requests: 3),
        Case(testDescription: "encoded", answer: part(50_000) { $0.headers[.contentEncoding] = "gzip" }, requests: 3),
        Case(
            testDescription: "416 with another length",
            answer: { $0 = .init(status: 416, headers: ["Content-Range": "bytes */7"]) }, requests: 3),
        Case(testDescription: "416 without a length", answer: { $0 = .init(status: 416) }, requests: 3),
        Case(
            testDescription: "cut again", answer: part(50_000) { $0.fault = .disconnect(.insideBody(afterBytes: 1_000)) },
            requests: 3),
        Case(
            testDescription: "more bytes than told",
            answer: part(50_000, 149_999) {
                $0.headers[.contentRange] = "bytes 50000-99999/200000"
                $0.headers[.transferEncoding] = "chunked"
            }, code: .protocolViolation),
        Case(
            testDescription: "a length that isn't the range's",
            answer: part(50_000, 149_999) { $0.headers[.contentRange] = "bytes 50000-99999/200000" }, code: .protocolViolation),
        Case(
            testDescription: "fewer bytes than told",
            answer: part(50_000, 99_999) {
                $0.headers[.contentRange] = "bytes 50000-199999/200000"
                $0.headers[.transferEncoding] = "chunked"
            }, requests: 3),
    ]

    @Test("The file is the server's, or there is an error and no file", arguments: cases)
    func misbehaviour(test: Case) async throws {
        server.cut(50_000)
        server.next({ _ in }, test.answer)
        let work = { try await server.client().download(HTTPRequest(server.url), to: folder.target) }
        if let code = test.code {
            let error = await httpError(work)
            #expect(error?.code == code)
            #expect(folder.content == nil)
        } else {
            _ = try await work()
            #expect(folder.content == Self.content)
            #expect(folder.names == ["target.bin"])
        }
        #expect(server.requests.count == test.requests)
    }

    @Test("A server that always answers strangely isn't asked for ever")
    func always() async throws {
        server.cut(50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 50_000)
        let strange: Answer = Self.part(60_000)
        server.next(
            { _ in }, strange, { _ in }, strange, { _ in }, strange, { _ in }, strange, { _ in }, strange, { _ in }, strange)
        let error = await httpError { try await server.client().download(HTTPRequest(server.url), to: folder.target) }
        #expect(error != nil)
        #expect(server.requests.count <= 8)
        #expect(folder.content == nil)
    }

    @Test("Nothing is kept of a part that turns out to be more than its range")
    func moreThanTold() async throws {
        let begun = HTTPBody.stream(length: 200_000) {
            AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array(Self.content.prefix(50_000)))
                continuation.finish(throwing: HTTPError(.connectionLost))
            }
        }
        let wholeAsPart = HTTPBody.stream {
            AsyncStream<[UInt8]> { continuation in
                for start in stride(from: 0, to: 200_000, by: 10_000) {
                    continuation.yield(Array(Self.content[start..<(start + 10_000)]))
                }
                continuation.finish()
            }
        }
        let stub = StubTransport(sequence: [
            .respond(.ok, headers: ["ETag": "\"1\""], body: begun),
            .respond(
                .partialContent, headers: ["ETag": "\"1\"", "Content-Range": "bytes 50000-199999/200000"], body: wholeAsPart),
            .respond(.ok, headers: ["ETag": "\"1\""], body: .bytes(Self.content)),
        ])
        let client = testClient(configuration: .init(random: { 0 }), transport: stub)
        let error = await httpError { try await client.download(HTTPRequest("http://h/film"), to: folder.target) }
        #expect(error?.code == .protocolViolation)
        #expect(folder.names.isEmpty)
        try await client.download(HTTPRequest("http://h/film"), to: folder.target)
        #expect(folder.content == Self.content)
        #expect(stub.requests.map { $0.headers[.range] } == [nil, "bytes=50000-", nil])
    }

    @Test("A part in place of the whole is a contradiction")
    func unaskedPart() async throws {
        for change in [Self.part(0, 99_999), Self.part(0, 99_999) { $0.status = .ok }] {
            server.next(change)
            let error = await httpError { try await server.client().download(HTTPRequest(server.url), to: folder.target) }
            #expect(error?.code == .protocolViolation)
            #expect(folder.names.isEmpty)
        }
        server.next(Self.part(0))
        try await server.client().download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == Self.content)
    }

    @Test("The digest of a version of which no byte has come isn't that of the next")
    func digestOfOtherVersion() async throws {
        let digest = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: Self.other))
        server.next({
            $0 = .init(headers: ["ETag": "\"0\"", "Repr-Digest": digest], body: .bytes(Self.other))
            $0.fault = .disconnect(.insideBody(afterBytes: 0))
        })
        try await server.client { VerifyDigest() }.download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == Self.content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, nil])
    }

    @Test("The digest of an answer in whose place another was asked for isn't that of the next")
    func digestOfDiscardedAnswer() async throws {
        let wait = Array("wait".utf8)
        let digest = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: wait))
        server.next({ $0 = .init(headers: ["Repr-Digest": digest, "X-Again": "1"], body: .bytes(wait)) })
        var request = HTTPRequest(server.url)
        request.maxRetries = 1
        request.validators = [
            CallbackValidator { response, _ in response.headers["X-Again"] == nil ? .next : .retry(.immediate) }
        ]
        try await server.client { VerifyDigest() }.download(request, to: folder.target)
        #expect(folder.content == Self.content)
        #expect(server.requests.count == 2)
    }

    @Test("A length that a transport of one's own gives as -1 isn't known")
    func negativeLength() async throws {
        let stub = StubTransport { request in
            let rest = Locked([Self.content])
            let body = HTTPBody.incoming(length: -1, next: { rest.withLock { $0.popLast() } }, close: {})
            return HTTPResponse(status: .ok, body: body, request: request)
        }
        try await testClient(transport: stub).download(HTTPRequest("http://h/film"), to: folder.target)
        #expect(folder.content == Self.content)
    }

    @Test("An answer that is encoded all the same is asked for again, to be decoded")
    func encoded() async throws {
        let plain = folder.url.appendingPathComponent("plain")
        try Data("hello, hello, hello".utf8).write(to: plain)
        let coded = try await ChildProcess.run("/bin/gzip", ["-nc", plain.path]).output
        let answer: Answer = { $0 = .init(headers: ["ETag": "\"1\"", "Content-Encoding": "gzip"], body: .bytes(coded)) }
        server.next(answer, answer)
        try await server.client().download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == Array("hello, hello, hello".utf8))
        #expect(server.requests.map { $0.headers[.acceptEncoding] == "identity" } == [true, false])
    }

    @Test("An archive whose name has made its server say that it is encoded is taken as it is")
    func archive() async throws {
        let coded = [UInt8](repeating: 31, count: 100)
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Encoding": "x-gzip", "Content-Type": "application/x-tar"]
        let stub = StubTransport { HTTPResponse(status: .ok, headers: headers, body: .bytes(coded), request: $0) }
        try await testClient(transport: stub).download(HTTPRequest("http://h/a.tar.gz"), to: folder.target)
        #expect(folder.content == coded)
        #expect(stub.requests.map { $0.headers[.acceptEncoding] } == ["identity"])
    }

    @Test("The encoding of a page that says that nothing is missing isn't the file's")
    func encodedRefusal() async throws {
        server.cut(200_000)
        server.next({ $0.headers[.transferEncoding] = "chunked" }, { $0.headers[.contentEncoding] = "gzip" })
        try await server.client().download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == Self.content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=200000-", "bytes=199999-"])
    }

    @Test("What the system has decoded isn't gone on with, nor kept for later")
    func decodedUnseen() async throws {
        func download(decoding status: HTTPStatus) async throws {
            server.cut(50_000)
            let client = server.client {
                ClosureResponseInterceptor(stage: .exchange) { response in
                    if response.status == status { response.isDecodedUnseen = true }
                }
            }
            _ = try await client.download(HTTPRequest(server.url), to: folder.target)
        }
        #expect(await httpError { try await download(decoding: .ok) }?.code == .connectionLost)
        #expect(folder.names.isEmpty)
        try await download(decoding: .partialContent)
        #expect(folder.content == Self.content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, nil, "bytes=50000-", nil])
    }

    @Test("A list of encodings that has none is no encoding, as S3 has sent it", arguments: ["", "identity", ", Identity"])
    func noEncoding(field: String) async throws {
        server.change { $0.headers[.contentEncoding] = field }
        server.cut(70_000)
        try await server.client().download(HTTPRequest(server.url), to: folder.target)
        #expect(folder.content == Self.content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-"])
    }

    @Test("A request with an encoding, or a range, of its own gets what it asks for")
    func ownFields() async throws {
        try await server.client().download(HTTPRequest(server.url, headers: ["Range": "bytes=5-9"]), to: folder.target)
        #expect(folder.content == Array(Self.content[5...9]))
        server.next({ $0 = .init(headers: ["Content-Encoding": "gzip"], body: "raw") })
        try await server.client().download(HTTPRequest(server.url, headers: ["Accept-Encoding": "gzip"]), to: folder.target)
        #expect(folder.content == Array("raw".utf8))
    }
}
