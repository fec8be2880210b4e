import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

/// What a user gets by `import Midstream` alone.
@Suite("Digests without a further import", .leavesNothing, .timeLimit(.minutes(10)))
struct DownloadDigestTests {
    @Test(
        "A file has to have the digest that was given",
        arguments: [
            ("b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9", true),
            ("B94D27B9934D3E08A52E52D7DA7DABFAC484EFE37A5380EE9088F7ACE2EFCDE9", true),
            ("b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde8", false),
        ])
    func sha256(digest: String, isRight: Bool) async throws {
        try await download(isRight: isRight) { try .sha256(hex: digest) }
    }

    @Test("The same by SHA-512", arguments: [("309ecc48", true), ("309ecc49", false)])
    func sha512(start: String, isRight: Bool) async throws {
        let rest =
            "9c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f"
            + "989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f"
        try await download(isRight: isRight) { try .sha512(hex: start + rest) }
    }

    @Test("A text that is no digest is refused before anything is sent")
    func malformed() {
        for text in ["", "b94d", String(repeating: "g", count: 64)] {
            #expect(throws: HTTPError.self) { try ExpectedDigest.sha256(hex: text) }
        }
    }

    private func download(isRight: Bool, _ digest: () throws -> ExpectedDigest) async throws {
        let client = testClient(baseURL: "https://h", transport: StubTransport(status: .ok, body: "hello world"))
        let file = temporaryPath()
        defer { try? FileManager.default.removeItem(at: file) }
        let options = DownloadOptions(digest: try digest())
        if isRight {
            try await client.get("file").download(to: file, options: options)
        } else {
            let error = await #expect(throws: HTTPError.self) {
                try await client.get("file").download(to: file, options: options)
            }
            #expect(error?.code == .digestMismatch)
        }
        #expect(FileManager.default.fileExists(atPath: file.path) == isRight)
    }
}
