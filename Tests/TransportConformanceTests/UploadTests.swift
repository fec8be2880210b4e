import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UploadTests {
    private struct Broken: Error {}

    /// The same bytes as every kind of body.
    enum Kind: CaseIterable, Sendable {
        case bytes, file, streamOfKnownLength, streamOfUnknownLength, once, onceOfKnownLength
    }

    private func body(_ kind: Kind, of bytes: [UInt8], in folder: TemporaryFolder) throws -> HTTPBody {
        let pieces = bytes.pieces(of: 10_007)
        switch kind {
        case .bytes: return .bytes(bytes)
        case .file: return .file(try folder.file(bytes))
        case .streamOfKnownLength: return .stream(length: Int64(bytes.count)) { pieces.asynchronous() }
        case .streamOfUnknownLength: return .stream { pieces.asynchronous() }
        case .once: return .once(pieces.asynchronous())
        case .onceOfKnownLength: return .once(pieces.asynchronous(), length: Int64(bytes.count))
        }
    }

    @Test(arguments: TransportUnderTest.allCases, Kind.allCases)
    func everyByteArrives(transport: TransportUnderTest, kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        for count in [1, 10_007, 10 << 20] {
            server.enqueue(.init(status: 201))
            let bytes = noise(count, seed: UInt64(count))
            let response = try await client.send(
                HTTPRequest(.put, server.url(), body: try body(kind, of: bytes, in: folder)))
            #expect(response.status == 201)
            let request = try await server.takeRequest()
            #expect(request.body == bytes)
            #expect(!request.headers.contains(.expect))
            if kind != .streamOfUnknownLength, kind != .once {
                #expect(request.headers[.contentLength] == "\(count)")
                #expect(!request.headers.contains(.transferEncoding))
            }
        }
        try await needing(.oneConnectionForUploads, of: transport) { #expect(server.connectionCount == 1) }
    }

    @Test(arguments: TransportUnderTest.allCases, [Kind.streamOfUnknownLength, .once])
    func aBodyOfUnknownLengthIsChunked(transport: TransportUnderTest, kind: Kind) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        try await needing(.chunkedUpload, of: transport) {
            let body = try body(kind, of: [UInt8]("hello"), in: TemporaryFolder())
            _ = try await transport.client().send(HTTPRequest(.post, server.url(), body: body))
            let request = try await server.takeRequest()
            #expect(request.text == "hello")
            #expect(request.headers[.transferEncoding] == "chunked")
            #expect(!request.headers.contains(.contentLength))
        }
    }

    /// A piece isn't held back until the next one or the end comes.
    @Test(arguments: TransportUnderTest.allCases)
    func aBodyIsSentWhileItIsMade(transport: TransportUnderTest) async throws {
        let server = try SilentServer()
        try await needing(.uploadWhileItIsMade, of: transport) {
            let hasArrived = Event()
            let step = Locked(0)
            let chunks = AsyncStream<[UInt8]> {
                switch step.withLock({ step in
                    defer { step += 1 }; return step
                }) {
                case 0: return [UInt8]("first")
                case 1:
                    await hasArrived.wait()
                    return [UInt8]("second")
                default: return nil
                }
            }
            async let response = transport.client().send(HTTPRequest(.post, server.url, body: .once(chunks)))
            let connection = await server.accepted()
            #expect(await connection.receives("first"))
            hasArrived.happen()
            #expect(await connection.receives("second"))
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let status = try await response.status
            #expect(status == .ok)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyThatTurnsOutEmptyArrives(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let folder = try TemporaryFolder()
        let client = transport.client()
        let bodies: [HTTPBody] = [
            .stream { [].asynchronous() }, .stream(length: 0) { [].asynchronous() }, .once([].asynchronous()),
            .stream { [[], []].asynchronous() }, .file(try folder.file([])), .bytes([]),
        ]
        for body in bodies {
            #expect(try await client.send(HTTPRequest(.post, server.url(), body: body)).status == .ok)
            #expect(try await server.takeRequest().bodyLength == 0)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func emptyPiecesAreNotTheEnd(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        let pieces = [[], [UInt8]("a"), [], [], [UInt8]("b"), []]
        let body = HTTPBody.stream { pieces.asynchronous() }
        _ = try await transport.client().send(HTTPRequest(.post, server.url(), body: body))
        #expect(try await server.takeRequest().text == "ab")
    }

    @Test(arguments: TransportUnderTest.allCases, [3, 4, 6])
    func aBodyOfAnotherLengthThanDeclaredIsUnreadable(transport: TransportUnderTest, length: Int64) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        let body = HTTPBody.stream(length: length) { [[UInt8]("hel"), [UInt8]("lo")].asynchronous() }
        await expectError(.bodyUnreadable) { try await client.send(HTTPRequest(.put, server.url(), body: body)) }
        #expect(try await client.send(HTTPRequest(server.url("/next"))).status == .ok)
        #expect(try await server.takeRequest().path == "/next", "No part of the body passes for a whole request.")
    }

    @Test(arguments: TransportUnderTest.allCases, [nil, 5, 10])
    func whatABodyThrowsReachesTheCaller(transport: TransportUnderTest, length: Int64?) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        let body = HTTPBody.stream(length: length) { [[UInt8]("hello")].asynchronous(thenThrowing: Broken()) }
        await #expect(throws: Broken.self) { try await client.send(HTTPRequest(.put, server.url(), body: body)) }
        #expect(try await client.send(HTTPRequest(server.url("/next"))).status == .ok)
        #expect(try await server.takeRequest().path == "/next", "No part of the body passes for a whole request.")
    }

    /// Which may be made of the answers of another server. URLSession has all of it before it sends anything on Linux.
    @Test(arguments: TransportUnderTest.allCases.filter { $0 != .urlSession }, [HTTPError.Phase.notSent, .answered])
    func whatABodyThrowsSaysNothingOfItsOwnRequest(transport: TransportUnderTest, phase: HTTPError.Phase) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client { ($0.validators, $0.maxRetries) = ([DefaultValidator()], 1) }
        let made = Locked(0)
        let body = HTTPBody.stream {
            made.withLock { $0 += 1 }
            return [[UInt8]("hello")].asynchronous(thenThrowing: HTTPError(.connection, phase: phase))
        }
        await expectError(.connection, .maybeProcessed) {
            try await client.send(HTTPRequest(.post, server.url(), body: body))
        }
        #expect(made.withLock { $0 } == 1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aFileThatIsNotThereIsUnreadable(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        let body = HTTPBody.file(URL(fileURLWithPath: "/nonexistent/file"))
        await expectError(.bodyUnreadable, .notSent) { try await client.send(HTTPRequest(.put, server.url(), body: body)) }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aPipeIsNotSentAsAFile(transport: TransportUnderTest) async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let server = try MockServer()
        defer { server.shutdown() }
        let client = transport.client()
        let request = HTTPRequest(.put, server.url(), body: .file(pipe))
        await expectError(.bodyUnreadable, .notSent) { try await client.send(request) }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyThatCanBeReadOnceIsNotSentTwice(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let transport = transport.make()
        let request = HTTPRequest(.put, server.url(), body: .once([[UInt8]("hello")].asynchronous()))
        #expect(try await transport.send(request).status == .ok)
        await expectError(.bodyNotReplayable, .notSent) { try await transport.send(request) }
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aReplayableStreamIsMadeAnew(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        let request = HTTPRequest(.put, server.url(), body: .stream { [[UInt8]("hello")].asynchronous() })
        for _ in 0..<3 {
            _ = try await client.send(request)
            #expect(try await server.takeRequest().text == "hello")
        }
    }

    /// RFC 9110 §10.1.1.
    @Test(arguments: TransportUnderTest.allCases)
    func aRequestMayExpectAContinue(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "answer"))
        let bytes = noise(2 << 20)
        let request = HTTPRequest(.put, server.url(), headers: ["Expect": "100-continue"], body: .bytes(bytes))
        let response = try await transport.client().send(request)
        #expect(response.status == .ok)
        #expect(response.body.bytes == [UInt8]("answer"))
        #expect(try await server.takeRequest().body == bytes)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func framingFieldsThatContradictTheBodyAreRefused(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let transport = transport.make()
        for headers in [["Content-Length": "1"], ["Content-Length": "x"], ["Transfer-Encoding": "gzip"]] as [HTTPHeaders] {
            await expectError(.invalidRequest, .notSent) {
                try await transport.send(HTTPRequest(.post, server.url(), headers: headers, body: .text("hello")))
            }
        }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theTypeOfABodyIsSentUnlessTheRequestHasOne(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        let client = transport.client()
        _ = try await client.send(HTTPRequest(.post, server.url(), body: .text("hello")))
        _ = try await client.send(HTTPRequest(.post, server.url(), headers: ["Content-Type": "a/b"], body: .text("hello")))
        _ = try await client.send(HTTPRequest(.post, server.url(), body: .bytes([1, 2, 3])))
        #expect(try await server.takeRequest().headers.values(.contentType) == ["text/plain; charset=utf-8"])
        #expect(try await server.takeRequest().headers.values(.contentType) == ["a/b"])
        #expect(try await server.takeRequest().headers.values(.contentType) == [], "No type is invented.")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyIsAskedForNoFasterThanItIsRead(transport: TransportUnderTest) async throws {
        let server = try SilentServer()
        try await needing(.uploadBackPressure, of: transport) {
            let total = 256 << 20
            let made = Locked(0)
            let piece = [UInt8](repeating: 7, count: 64 << 10)
            let body = HTTPBody.stream(length: Int64(total)) {
                AsyncStream<[UInt8]> {
                    made.withLock { count in
                        guard count < total else { return nil }
                        count += piece.count
                        return piece
                    }
                }
            }
            let client = transport.client()
            let url = server.url
            let upload = Task { try await client.send(HTTPRequest(.put, url, body: body)) }
            let connection = await server.accepted()
            let settled = try await made.settled()
            #expect(settled < 64 << 20, "Bytes that nobody reads have been asked for.")
            upload.cancel()
            await #expect(throws: CancellationError.self) { try await upload.value }
            await connection.drained()
        }
    }
}
