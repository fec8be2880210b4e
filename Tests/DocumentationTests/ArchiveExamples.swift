import Foundation
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import Testing

@Suite("Archives.md")
struct ArchiveExamples {
    private let transport = StubTransport { request in
        HTTPResponse(
            status: request.urlText.contains("43") ? .notFound : .ok, headers: [.contentType: "text/plain"],
            body: .text("answer"),
            request: request)
    }

    @Test("Record and play")
    func recordAndPlay() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("calls.har").path
        try await record(to: file)
        let page = CallReport(try HARArchive(contentsOf: file)).html()
        #expect(page.contains("api.example.com"))
        let archive = try HARArchive(contentsOf: file)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: ReplayTransport(archive))
        let data = try await client.get("users/42?token=other").data()
        #expect(String(decoding: data, as: UTF8.self) == "answer" && archive.count == 1)
        let report = folder.appendingPathComponent("report.har")
        try await capsule(to: report)
        #expect(try HARArchive(contentsOf: report.path).count == 1)
    }

    @Test("Look at calls while they are made")
    func inspect() async throws {
        let inspector = try InspectorObserver()
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [inspector]), transport: transport)
        print(inspector.url)
        _ = try await client.get("users/42").data()
        let page = try await HTTPClient().get(inspector.url).data()
        #expect(String(decoding: page, as: UTF8.self).contains("https://api.example.com/users/42"))
    }

    private func record(to file: String) async throws {
        let recorder = try HARRecorder(file: file)
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [recorder]), transport: transport)
        _ = try await client.get("users/42?token=abc").data()
        await recorder.flush()
    }

    private func capsule(to report: URL) async throws {
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(keepsCapsules: true), transport: transport)
        do {
            _ = try await client.get("users/43").data()
        } catch let error as HTTPError {
            try await error.capsule()?.encoded().write(to: report)
        }
    }
}
