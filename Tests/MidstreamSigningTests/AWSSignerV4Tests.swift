import Foundation
import MidstreamCore
import MidstreamSigning
import Testing

@Suite(.timeLimit(.minutes(2))) struct AWSSignerV4Tests {
    @Test func signsAsBotocoreDid() async throws {
        #expect(SigningVector.committed.count == 400)
        for vector in SigningVector.committed {
            var request = vector.request
            try await vector.signer.sign(&request)
            #expect(vector.disagreement(with: request) == nil)
        }
    }

    @Test(.enabled(if: Botocore.python != nil, "no Python with botocore: set MIDSTREAM_BOTOCORE_PYTHON to one that has it"))
    func signsAsBotocoreDoesOnFreshRequests() async throws {
        let python = try #require(Botocore.python)
        let seed = Int.random(in: 0..<1 << 32)
        let vectors = try JSONDecoder().decode(
            [SigningVector].self, from: Botocore.run(python, [Botocore.script, "\(seed)", "500"]))
        #expect(vectors.count == 500)
        for vector in vectors {
            var request = vector.request
            try await vector.signer.sign(&request)
            #expect(vector.disagreement(with: request) == nil, "seed \(seed)")
        }
    }
}

/// The reference implementation, where it is installed.
enum Botocore {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("generate-vectors.py")
        .path

    /// A Python that can import botocore.
    static let python: String? = {
        let given = ProcessInfo.processInfo.environment["MIDSTREAM_BOTOCORE_PYTHON"]
        return [given, "/usr/bin/python3"].compactMap { $0 }.first { candidate in
            (try? run(candidate, ["-c", "import botocore; print(1)"])).map { !$0.isEmpty } ?? false
        }
    }()

    static func run(_ program: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? data : Data()
    }
}
