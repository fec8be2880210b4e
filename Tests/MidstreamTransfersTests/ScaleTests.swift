import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTransfers

private let environment = ProcessInfo.processInfo.environment

/// What takes a large disk, or a small one; `Scripts/check transfers` runs them.
@Suite("Transfers at their limits", .leavesNothing, .serialized, .timeLimit(.minutes(30)))
struct ScaleTests {
    /// Of how many blocks of 64 KiB an upload is.
    private static let blocks = environment["MIDSTREAM_UPLOAD_BLOCKS"].flatMap { Int($0) }
    private static let smallFolder = environment["MIDSTREAM_SMALL_FOLDER"]
    private static let boundlessFolder = environment["MIDSTREAM_BOUNDLESS_FOLDER"]

    @Test(
        "A connection that is cut fifty times costs no more than a tenth", .enabled(if: blocks != nil), arguments: [false, true])
    func manyCuts(isTus: Bool) async throws {
        let content = FileServer.blocks(try #require(Self.blocks))
        let folder = try TemporaryFolder()
        try Data(content).write(to: folder.target)
        // A part of each that is sent: all of them together are less than the whole.
        let cuts = (0..<50).map { _ in Int.random(in: 1..<(content.count / 50)) }
        let server = try UploadServer(.init(isTus: isTus, cuts: cuts))
        let client = testClient(configuration: .init(timeout: nil, random: { 0 }))
        try await client.upload(.file(folder.target), to: server.url, protocol: isTus ? .tus : .resumable)
        #expect(server.content == content)
        #expect(server.bytesReceived <= content.count + content.count / 10)
    }

    /// With a length that is known, and one that isn't.
    @Test(
        "A disk that is full is a typed error; the target stays, and what came", .enabled(if: smallFolder != nil),
        arguments: [true, false])
    func fullDisk(isLengthKnown: Bool) async throws {
        let folder = URL(fileURLWithPath: try #require(Self.smallFolder)).appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = folder.appendingPathComponent("target.bin")
        try Data("old".utf8).write(to: target)
        let server = try FileServer(FileServer.blocks(1024))
        if !isLengthKnown {
            server.next({ response in
                response.headers[.transferEncoding] = "chunked"
            })
        }
        // The second goes on with what came, where anything did.
        for _ in 0..<2 {
            let error = await httpError { try await server.client().download(HTTPRequest(server.url), to: target) }
            #expect(error?.code == .fileUnwritable)
        }
        #expect(try Data(contentsOf: target) == Data("old".utf8))
        #expect((server.requests.last?.headers[.range] != nil) == !isLengthKnown)
    }

    @Test("A file system that tells no size takes what is announced", .enabled(if: boundlessFolder != nil))
    func boundlessDisk() async throws {
        let target = URL(fileURLWithPath: try #require(Self.boundlessFolder)).appendingPathComponent("target.bin")
        let content = FileServer.content(100_000)
        let server = try FileServer(content)
        try await server.client().download(HTTPRequest(server.url), to: target)
        #expect(try Data(contentsOf: target) == Data(content))
    }
}
