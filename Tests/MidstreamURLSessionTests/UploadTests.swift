import Foundation
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamURLSession

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UploadTests {
    private struct Broken: Error {}
    private let transport = urlSessionTransport()

    private func chunks(_ texts: [String], thenThrow error: (any Error)? = nil)
        -> @Sendable () -> AsyncThrowingStream<[UInt8], any Error>
    {
        {
            AsyncThrowingStream { continuation in
                for text in texts { continuation.yield(Array(text.utf8)) }
                continuation.finish(throwing: error)
            }
        }
    }

    @Test func bytesHaveALengthAndNoInventedType() async throws {
        let server = try RawServer.echoing()
        let sent = try await transport.deliver(HTTPRequest(.post, server.url, body: .bytes(Array("hello".utf8)))).text()
        #expect(sent.contains("Content-Length: 5\r\n"))
        #expect(sent.hasSuffix("\r\n\r\nhello"))
        #if canImport(FoundationNetworking)
            #expect(!sent.lowercased().contains("content-type"))
        #endif
    }

    @Test func emptyBodiesHaveLengthZero() async throws {
        let server = try RawServer.echoing()
        #expect(try await transport.deliver(HTTPRequest(.post, server.url)).text().contains("Content-Length: 0\r\n"))
        #expect(try await !transport.deliver(HTTPRequest(server.url)).text().lowercased().contains("content-length"))
    }

    @Test func aStreamOfKnownLengthHasALength() async throws {
        let server = try RawServer.echoing()
        let body = HTTPBody.stream(length: 10, chunks(["hello", "world"]))
        let sent = try await transport.deliver(HTTPRequest(.put, server.url, body: body)).text()
        #expect(sent.contains("Content-Length: 10\r\n"))
        #expect(!sent.lowercased().contains("transfer-encoding"))
        #expect(sent.hasSuffix("\r\n\r\nhelloworld"))
        #expect(try await transport.deliver(HTTPRequest(.put, server.url, body: body).buffered()).data.count > 10)
    }

    @Test func aStreamOfUnknownLengthIsSentWhole() async throws {
        let server = try RawServer.echoing()
        let sent = try await transport.deliver(HTTPRequest(.put, server.url, body: .stream(chunks(["hello", "world"])))).text()
        #if canImport(FoundationNetworking)
            #expect(sent.contains("Content-Length: 10\r\n"))
            #expect(sent.hasSuffix("\r\n\r\nhelloworld"))
        #else
            #expect(sent.lowercased().contains("transfer-encoding: chunked\r\n"))
        #endif
    }

    @Test func aLongStreamIsSentWhole() async throws {
        let server = try RawServer.echoing()
        let pieces = (0..<40).map { String(repeating: Character(UnicodeScalar(UInt8(65 + $0 % 26))), count: 50_000 + $0) }
        let sent = try await transport.deliver(HTTPRequest(.put, server.url, body: .stream(chunks(pieces)))).text()
        #expect(sent.hasSuffix(pieces.joined()))
    }

    @Test func anEmptyStreamEnds() async throws {
        let server = try RawServer.echoing()
        #expect(try await transport.deliver(HTTPRequest(.put, server.url, body: .stream(chunks([])))).status == 200)
        #expect(try await transport.deliver(HTTPRequest(.put, server.url, body: .stream(length: 0, chunks([])))).status == 200)
    }

    @Test(arguments: [4, 6]) func aStreamOfAnotherLengthIsUnreadable(length: Int64) async throws {
        let server = try RawServer { $0.waitForClose() }
        let body = HTTPBody.stream(length: length, chunks(["hel", "lo"]))
        let error = await httpError { try await transport.deliver(HTTPRequest(.put, server.url, body: body)) }
        #expect(error?.code == .bodyUnreadable)
    }

    /// As for a body that is handed on with the fields that it came with.
    @Test(arguments: ["4", "6"]) func aStreamOfAnotherLengthThanItsFieldSaysIsUnreadable(length: String) async throws {
        let server = try RawServer.echoing()
        let request = HTTPRequest(.put, server.url, headers: ["Content-Length": length], body: .stream(chunks(["hel", "lo"])))
        #expect(await httpError { try await transport.deliver(request) }?.code == .bodyUnreadable)
    }

    @Test func theLengthOfAStreamMayBeSaidByAField() async throws {
        let server = try RawServer.echoing()
        let request = HTTPRequest(.put, server.url, headers: ["Content-Length": "5"], body: .stream(chunks(["hel", "lo"])))
        let sent = try await transport.deliver(request).text()
        #expect(sent.contains("Content-Length: 5\r\n"))
        #expect(sent.hasSuffix("\r\n\r\nhello"))
    }

    #if canImport(FoundationNetworking)
        @Test func aFormIsAsLongAsItWasWhenThatWasAnnounced() async throws {
            let file = temporaryPath(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try Data("hel".utf8).write(to: file)
            let request = HTTPRequest(.post, "http://127.0.0.1:1/", body: .multipart([.file("a", file)]))
            let outgoing = try OutgoingRequest(request)
            try Data("hello".utf8).write(to: file)
            #expect(await httpError { try await outgoing.spooled() }?.code == .bodyUnreadable)
        }
    #endif

    @Test func whatTheStreamThrowsEndsTheRequest() async throws {
        let server = try RawServer { $0.waitForClose() }
        let body = HTTPBody.stream(chunks(["hello"], thenThrow: Broken()))
        await #expect(throws: Broken.self) { try await transport.deliver(HTTPRequest(.put, server.url, body: body)) }
    }

    /// Which may be made of the answers of another server.
    @Test func whatTheStreamThrowsIsNoFailureOfTheServer() async throws {
        let server = try RawServer { $0.waitForClose() }
        let body = HTTPBody.stream(chunks(["hello"], thenThrow: HTTPError(.connectionLost)))
        let error = await httpError { try await transport.deliver(HTTPRequest(.put, server.url, body: body)) }
        #expect(error?.code == .connectionLost && error?.isRefusedHere == true)
    }

    @Test func aFileIsSentWhole() async throws {
        let file = temporaryPath(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let content = String(repeating: "0123456789", count: 100_000)
        try Data(content.utf8).write(to: file)
        let server = try RawServer.echoing()
        let sent = try await transport.deliver(HTTPRequest(.put, server.url, body: .file(file))).text()
        #expect(sent.contains("Content-Length: 1000000\r\n"))
        #expect(sent.hasSuffix("\r\n\r\n\(content)"))
    }

    @Test func aMissingFileIsUnreadable() async throws {
        let server = try RawServer { $0.waitForClose() }
        let body = HTTPBody.file(URL(fileURLWithPath: "/nonexistent/file"))
        let request = HTTPRequest(.put, server.url, body: body)
        #expect(await httpError { try await transport.deliver(request) }?.code == .bodyUnreadable)
    }

    @Test func aBodyThatWasReadIsNotSentAgain() async throws {
        let server = try RawServer.echoing()
        let request = HTTPRequest(.put, server.url, body: .once(chunks(["hello"])()))
        #expect(try await transport.deliver(request).text().contains("hello"))
        let error = await httpError { try await transport.deliver(request) }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.phase == .notSent)
    }

    @Test func anAnswerBeforeTheEndOfTheUploadIsDelivered() async throws {
        let server = try RawServer { connection in
            connection.receive()
            connection.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            connection.waitForClose()
        }
        let bytes = [UInt8](repeating: 120, count: 4 << 20)
        let buffered = try await transport.deliver(HTTPRequest(.put, server.url, body: .bytes(bytes)).buffered())
        #expect(buffered.status == 413)
        #expect(buffered.data == Data("no".utf8))
    }

    @Test func fieldsAreCombinedAndCredentialsLeftOut() async throws {
        let server = try RawServer.echoing()
        var request = HTTPRequest("http://user:secret@127.0.0.1:\(server.port)/a?b=c#d")
        request.headers.add("X-A", "1")
        request.headers.add("x-a", "2")
        request.headers.add(.cookie, "a=b")
        request.headers.add(.cookie, "c=d")
        request.headers.add("X-U", "café")
        request.headers.add("X-E", "")
        let sent = try await transport.deliver(request).text()
        #expect(sent.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
        #expect(sent.contains("X-A: 1, 2\r\n"))
        #expect(sent.contains("Cookie: a=b; c=d\r\n"))
        #expect(sent.contains("X-U: café\r\n"))
        #expect(sent.contains("X-E:"))
        #expect(!sent.contains("Authorization"))
    }
}
