public import MidstreamCore

extension DigestAlgorithm {
    /// SHA-256 (FIPS 180-4).
    public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32) { try RunningHash(.sha256) }
    /// SHA-512 (FIPS 180-4).
    public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64) { try RunningHash(.sha512) }
}

extension ExpectedDigest {
    /// A digest by SHA-256, of 32 bytes.
    public static func sha256(_ value: [UInt8]) -> ExpectedDigest { ExpectedDigest(.sha256, value) }
    /// A digest by SHA-512, of 64 bytes.
    public static func sha512(_ value: [UInt8]) -> ExpectedDigest { ExpectedDigest(.sha512, value) }
}

private final class RunningHash: RunningDigest {
    private var hashing: Hashing?

    init(_ function: HashFunction) throws { hashing = try Hashing(function) }

    func update(_ bytes: [UInt8]) throws { try hashing?.update(bytes) }

    func finish() throws -> [UInt8] {
        guard let hashing = hashing.take() else { return [] }
        return try hashing.finish()
    }
}
