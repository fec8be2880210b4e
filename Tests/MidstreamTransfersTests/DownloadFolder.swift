import Foundation
import TestSupport

/// Where a download goes to, and what is beside that.
extension TemporaryFolder {
    var target: URL { url.appendingPathComponent("target.bin") }
    var part: URL { url.appendingPathComponent(".target.bin.midstream-part") }
    var record: URL { url.appendingPathComponent(".target.bin.midstream-part.json") }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
    var content: [UInt8]? { (try? Data(contentsOf: target)).map { [UInt8]($0) } }
}
