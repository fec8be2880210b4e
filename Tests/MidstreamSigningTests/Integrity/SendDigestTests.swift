import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamSigning

@Suite("Requests are sent with their digest", .leavesNothing, .timeLimit(.minutes(10))) struct SendDigestTests {
    private static let content = Array("{\"hello\": \"world\"}\n".utf8)
    private static let field = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"

    private let server: MockServer
    private let client: HTTPClient

    init() throws {
        server = try MockServer()
        server.respond { _ in .init() }
        client = testClient(baseURL: server.url()) { SendDigest() }
    }

    @Test("A body that can be sent again has it in its head")
    func replayable() async throws {
        let file = temporaryPath("digest-\(UUID().uuidString)")
        try Data(Self.content).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = HTTPBody.stream {
            AsyncStream([UInt8].self) {
                $0.yield(Self.content); $0.finish()
            }
        }
        for body: HTTPBody in [.bytes(Self.content), .file(file), stream] {
            #expect(try await body.digest(.sha256) == DigestAlgorithm.sha256.digest(of: Self.content))
            _ = try await client.send(HTTPRequest(.put, "/", body: body))
            let request = try await server.takeRequest()
            #expect(request.headers["Content-Digest"] == Self.field)
            #expect(request.body == Self.content)
        }
    }

    @Test("It is the digest of what is sent, compressed say, wherever it stands in the list", arguments: [false, true])
    func compressed(isListedFirst: Bool) async throws {
        let content = Array(String(repeating: "hello ", count: 1_000).utf8)
        let client = testClient(baseURL: server.url()) {
            if isListedFirst { SendDigest() }
            CompressRequests(.gzip)
            if !isListedFirst { SendDigest() }
        }
        for body: HTTPBody in [.bytes(content), .once(chunks(String(decoding: content, as: UTF8.self)))] {
            _ = try await client.send(HTTPRequest(.put, "/", body: body))
            let request = try await server.takeRequest()
            let digest = try DigestAlgorithm.sha256.field(DigestAlgorithm.sha256.digest(of: request.body))
            #expect(request.headers[.contentEncoding] == "gzip" && request.body.count < content.count)
            #expect(request.headers["Content-Digest"] ?? request.trailers?["Content-Digest"] == digest)
        }
    }

    @Test("A stream that can be read once has it behind itself")
    func stream() async throws {
        let body = HTTPBody.once(chunks("{\"hello\": ", "\"world\"}\n"))
        _ = try await client.send(HTTPRequest(.post, "/", body: body))
        let request = try await server.takeRequest()
        #expect(request.headers["Content-Digest"] == nil)
        #expect(request.headers[.trailer] == "Content-Digest")
        #expect(request.trailers?["Content-Digest"] == Self.field)
        #expect(request.body == Self.content)
    }

    @Test("One of a known length leaves no room for trailers, and none is promised")
    func knownLength() async throws {
        let length = Self.content.count
        for isToldByField in [false, true] {
            let body = HTTPBody.once(chunks("{\"hello\": ", "\"world\"}\n"), length: isToldByField ? nil : Int64(length))
            let headers: HTTPHeaders = isToldByField ? ["Content-Length": "\(length)"] : [:]
            let response = try await client.send(HTTPRequest(.post, "/", headers: headers, body: body))
            let request = try await server.takeRequest()
            #expect(request.headers[.trailer] == nil)
            #expect(request.body == Self.content)
            #expect(response.trace.description.contains("no digest: the body can be read once"))
        }
    }

    @Test("A field of the request's own stays, and nothing needs none")
    func none() async throws {
        _ = try await client.send(HTTPRequest(.put, "/", headers: ["Content-Digest": "x"], body: .text("a")))
        #expect(try await server.takeRequest().headers["Content-Digest"] == "x")
        _ = try await client.send(HTTPRequest("/"))
        #expect(try await server.takeRequest().headers["Content-Digest"] == nil)
    }

    @Test("The digest of a body that can be read once isn't taken")
    func once() async throws {
        let body = HTTPBody.once(chunks("a"))
        #expect(await httpError { try await body.digest(.sha256) }?.code == .bodyNotReplayable)
        #expect(try await body.collect() == [97])
    }

    @Test("Another function")
    func sha512() async throws {
        let client = testClient(baseURL: server.url()) { SendDigest(.sha512) }
        _ = try await client.send(HTTPRequest(.put, "/", body: .bytes(Self.content)))
        #expect(try await server.takeRequest().headers["Content-Digest"]?.hasPrefix("sha-512=:YMAam51Jz") == true)
    }

    @Test("Trailers of a request: any fields, once the body has been sent; none when there is no body of unknown length")
    func trailers() async throws {
        let isRead = Locked(false)
        let body = HTTPBody.once(
            AsyncStream([UInt8].self) {
                $0.yield([97])
                $0.finish()
            }
        ).observed(onChunk: { _ in isRead.withLock { $0 = true } }, onEnd: { _ in })
        var request = HTTPRequest(.post, server.url(), body: body)
        request.trailers = { isRead.withLock { $0 } ? ["X-A": "1", "X-B": "ü"] : [:] }
        _ = try await client.send(request)
        let received = try await server.takeRequest()
        #expect(received.trailers?["X-A"] == "1")
        #expect(received.trailers?["X-B"] == "ü")
        var known = HTTPRequest(.post, server.url(), body: .text("a"))
        known.trailers = { ["X-A": "1"] }
        _ = try await client.send(known)
        #expect(try await server.takeRequest().trailers == nil)
    }
}
