import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

/// What an interceptor makes of bytes isn't put together of parts.
extension DownloadTests {
    /// Goes by position, and begins anew with each answer, so that parts of what it makes don't fit together.
    private struct Cipher: ResponseInterceptor {
        let stage = InterceptorStage.exchange
        var firstChanged = 0

        func intercept(response: inout HTTPResponse) async throws {
            let (body, position) = (response.body, Locked(0))
            response.body = body.mapChunks(length: body.length) { [firstChanged] chunk in
                let start = position.withLock { position in
                    defer { position += chunk.count }
                    return position
                }
                return DownloadTests.enciphered(chunk, from: start, firstChanged)
            }
        }
    }

    /// One byte in 1,024 is changed, by its place.
    private static func enciphered(_ bytes: [UInt8], from start: Int, _ firstChanged: Int) -> [UInt8] {
        var bytes = bytes
        let places = (start + 1_023) >> 10..<(start + bytes.count + 1_023) >> 10
        for place in places where place << 10 >= firstChanged {
            bytes[place << 10 - start] ^= UInt8(truncatingIfNeeded: place &* 0x9E37 >> 4 | 1)
        }
        return bytes
    }

    @Test("One whose bytes are changed on the way fails, and leaves nothing for a later one")
    func breaking() async throws {
        server.cut(70_000)
        #expect(await httpError { try await download(by: server.client { Cipher() }) }?.code == .connectionLost)
        #expect(server.requests.count == 1 && folder.names == [])
        try await download(by: server.client { Cipher() })
        #expect(folder.content == Self.enciphered(Self.content, from: 0, 0))
    }

    @Test("One of whose bytes only a part was changed begins again")
    func changedFromThere() async throws {
        server.cut(70_000)
        try await download(by: server.client { Cipher(firstChanged: 100_000) })
        #expect(folder.content == Self.enciphered(Self.content, from: 0, 100_000))
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-", nil])
    }

    @Test("Changed bytes don't go on with what was there before")
    func recorded() async throws {
        server.cut(70_000)
        _ = await httpError { try await download(.init(resumes: 0)) }
        #expect(folder.names.count == 2)
        try await download(by: server.client { Cipher() })
        #expect(folder.content == Self.enciphered(Self.content, from: 0, 0))
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-", nil])
    }

    @Test("Nor does one whose bytes are changed behind a cache, whose answer others may share, go on")
    func cached() async throws {
        server.change { $0.headers[.cacheControl] = "max-age=60" }
        server.cut(70_000)
        let client = server.client {
            CacheInterceptor()
            Cipher()
        }
        let error = await httpError { try await download(by: client) }
        #expect(error?.code == .connectionLost && folder.names == [])
        #expect(server.requests.count == 1)
    }

    @Test("Several connections bring no pieces of changed bytes")
    func pieces() async throws {
        let content = FileServer.blocks(320)
        server.replace(content, eTag: "\"1\"")
        try await download(.init(parallel: 4), by: server.client { Cipher() })
        #expect(folder.content == Self.enciphered(content, from: 0, 0))
    }

    @Test("A body in memory whose bytes are changed isn't joined", arguments: [0, 100_000])
    func inMemory(firstChanged: Int) async {
        server.cut(70_000)
        let client = testClient {
            ResumeBodies()
            Cipher(firstChanged: firstChanged)
        }
        let error = await httpError { try await client.send(HTTPRequest(server.url)) }
        #expect(error?.code == (firstChanged == 0 ? .connectionLost : .protocolViolation))
    }

    @Test("Bytes that pass as they are, such as paced ones, are put together")
    func paced() async throws {
        server.cut(70_000)
        let client = server.client {
            ClosureResponseInterceptor { $0.body = $0.body.mapChunks { $0 } }
        }
        try await download(by: client)
        #expect(folder.content == Self.content)
        #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=70000-"])
    }
}
