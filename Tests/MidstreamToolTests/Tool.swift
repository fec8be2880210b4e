import Foundation

/// The program.
enum Tool {
    /// Built with the tests, beside them.
    static var path: String? {
        let beside = [Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent()].compactMap { $0 }
            .flatMap { [$0, $0.deletingLastPathComponent()] }
        return beside.map { $0.appendingPathComponent("midst").path }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
