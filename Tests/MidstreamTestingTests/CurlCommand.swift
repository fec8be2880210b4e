import Foundation

/// Runs the curl command without blocking the test's thread.
enum CurlCommand {
    struct Result {
        let status: Int32
        let output: [UInt8]
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// - Returns: curl's exit status and what it wrote to standard output.
    static func run(_ arguments: String...) async throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["-sS", "--noproxy", "*", "--max-time", "60"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do {
                    try process.run()
                    let data = try output.fileHandleForReading.readToEnd() ?? Data()
                    process.waitUntilExit()
                    continuation.resume(returning: Result(status: process.terminationStatus, output: Array(data)))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
