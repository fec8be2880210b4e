import Foundation

/// A folder that goes when nobody refers to it any more.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("midstream-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A new file.
    func file(_ bytes: [UInt8]) throws -> URL {
        let file = url.appendingPathComponent(UUID().uuidString)
        try Data(bytes).write(to: file)
        return file
    }
}
