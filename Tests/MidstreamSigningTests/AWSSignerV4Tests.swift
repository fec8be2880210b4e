import Foundation
import MidstreamCore
import MidstreamSigning
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct AWSSignerV4Tests {
    @Test func signsAsBotocoreDid() async throws {
        #expect(SigningVector.committed.count == 400)
        for vector in SigningVector.committed {
            var request = vector.request
            try await vector.signer.sign(&request)
            #expect(vector.disagreement(with: request) == nil)
        }
    }

    @Test(.enabled("no Python with botocore: set MIDSTREAM_BOTOCORE_PYTHON to one that has it") { await Botocore.python != nil })
    func signsAsBotocoreDoesOnFreshRequests() async throws {
        let python = try #require(await Botocore.python)
        let seed = Int.random(in: 0..<1 << 32)
        let vectors = try JSONDecoder().decode(
            [SigningVector].self, from: await Botocore.run(python, [Botocore.script, "\(seed)", "500"]))
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
    static var python: String? { get async { await search.value } }

    private static let search = Task<String?, Never> {
        let given = ProcessInfo.processInfo.environment["MIDSTREAM_BOTOCORE_PYTHON"]
        for candidate in [given, "/usr/bin/python3"].compactMap({ $0 }) {
            if let printed = try? await run(candidate, ["-c", "import botocore; print(1)"]), !printed.isEmpty {
                return candidate
            }
        }
        return nil
    }

    static func run(_ program: String, _ arguments: [String]) async throws -> Data {
        let child = try await ChildProcess.run(program, arguments)
        return child.status == .exited(0) ? Data(child.output) : Data()
    }
}
