import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport

/// A folder that is there as long as the test.
final class TestFolder: Sendable {
    let url = temporaryPath("midstream-cache-\(UUID().uuidString)")

    deinit {
        // A store that is about to end may make its lock's file while the folder is being emptied.
        for _ in 0..<3 where FileManager.default.fileExists(atPath: url.path) { try? FileManager.default.removeItem(at: url) }
        try? FileManager.default.removeItem(atPath: url.path + ".damaged")
    }

    var database: String { url.path + "/cache.sqlite" }
    var bodies: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path + "/bodies")) ?? [] }

    /// All that is in the files.
    var contents: Data {
        let names = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
        return names.compactMap { FileManager.default.contents(atPath: "\(url.path)/\($0)") }.reduce(Data(), +)
    }
}

func client(
    _ store: any CacheStore, _ count: Locked<Int> = Locked(0),
    _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
) -> HTTPClient {
    let stub = StubTransport { request in
        count.withLock { $0 += 1 }
        return try await respond(request)
    }
    var configuration = HTTPClient.Configuration()
    configuration.validators = []
    return testClient(configuration: configuration, transport: stub) { CacheInterceptor(store: store) }
}

func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

/// Answers with as many bytes as the path says.
func sized(_ request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
        status: 200, headers: ["Cache-Control": "max-age=600", "ETag": "\"a\"", "Set-Cookie": "a=1"],
        body: .bytes(bytes(Int(request.url.lastPathComponent) ?? 0)), request: request)
}
