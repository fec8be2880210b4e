import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Transfers.md", .timeLimit(.minutes(10)))
struct TransferExamples {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfers-\(UUID().uuidString)")

    @Test("Downloads")
    func downloads() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("film")
        let stub = StubTransport(status: .ok, body: .text("film"))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let published = "d0607f7ad2628b2af9158dfba06ce87166e66b15bf68f8f358f9aa27ccb7c321"
        try await client.get("film").download(to: file)
        let options = try DownloadOptions(parallel: 4, digest: .sha256(hex: published))
        let response = try await client.download(HTTPRequest("film"), to: file, options: options)
        #expect(response.status == .ok)
        #expect(try Data(contentsOf: file) == Data("film".utf8))
        try await metered(client, file)
    }

    private struct Screen { func show(_ fraction: Double?, _ timeLeft: Duration?) {} }

    private func metered(_ client: HTTPClient, _ file: URL) async throws {
        let screen = Screen()
        let meter = TransferMeter()
        let display = Task {
            for await update in meter { screen.show(update.fraction, update.timeLeft) }
        }
        try await client.download(HTTPRequest("film"), to: file, options: DownloadOptions(meter: meter))
        await display.value
    }

    @Test("Bodies in memory, compressed requests")
    func others() async throws {
        let stub = StubTransport(status: .ok)
        try await resuming(stub)
        try await compressing(stub)
        #expect(stub.requests.map { $0.headers[.contentEncoding] } == [nil, "gzip"])
    }

    private func resuming(_ stub: StubTransport) async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            ResumeBodies()
        }
        _ = try await client.send(HTTPRequest("/"))
    }

    private func compressing(_ stub: StubTransport) async throws {
        let client = HTTPClient(baseURL: "https://logs.example.com", transport: stub) {
            CompressRequests(.gzip)
        }
        _ = try await client.send(HTTPRequest(.post, "/", body: .text(String(repeating: "a", count: 2_000))))
    }

    @Test("Uploads")
    func uploads() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let film = folder.appendingPathComponent("film")
        try Data("film".utf8).write(to: film)
        let stub = StubTransport { request in
            _ = try await request.body.collect()
            let headers: HTTPHeaders = request.method == .patch ? ["Upload-Offset": "4"] : ["Location": "/files/1"]
            return HTTPResponse(status: .created, headers: headers, request: request)
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        try await client.upload(.file(film), to: "uploads")
        try await client.upload(.file(film), to: "files", protocol: .tus)
        #expect(stub.requests.map(\.method) == [.post, .post, .patch])

        @Sendable func chunks(from offset: Int64) -> AsyncStream<[UInt8]> {
            AsyncStream { continuation in
                continuation.yield([UInt8](repeating: 1, count: 1 << 20 - Int(offset)))
                continuation.finish()
            }
        }
        let content = UploadContent.stream(length: 1 << 20) { offset in chunks(from: offset) }
        try await client.upload(content, to: "uploads")
        #expect(stub.requests.count == 4)
    }
}
