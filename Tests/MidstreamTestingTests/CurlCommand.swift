import TestSupport

/// The curl command, as a client that has nothing in common with the server under test.
enum CurlCommand {
    static func run(_ arguments: String...) async throws -> ChildProcess {
        try await ChildProcess.run("/usr/bin/curl", ["-sS", "--noproxy", "*", "--max-time", "300"] + arguments)
    }
}
