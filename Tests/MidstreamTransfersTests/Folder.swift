import Foundation
import TestSupport

/// A folder of the test's own.
final class Folder: Sendable {
    let url = temporaryPath("midstream-test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var target: URL { url.appendingPathComponent("target.bin") }
    var part: URL { url.appendingPathComponent(".target.bin.midstream-part") }
    var record: URL { url.appendingPathComponent(".target.bin.midstream-part.json") }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
    var content: [UInt8]? { (try? Data(contentsOf: target)).map { [UInt8]($0) } }
}
