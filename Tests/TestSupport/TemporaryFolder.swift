package import Foundation

/// A folder that goes when nobody refers to it any more.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = temporaryPath()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A new file.
    package func file(_ bytes: [UInt8]) throws -> URL {
        let file = url.appendingPathComponent(UUID().uuidString)
        try Data(bytes).write(to: file)
        return file
    }
}
