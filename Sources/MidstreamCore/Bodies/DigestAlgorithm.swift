/// A hash function for digests of bodies and files.
///
/// Hashing takes the system's library: CryptoKit on Apple's platforms, elsewhere libcrypto, which is looked up when it is needed. Without it,
/// what computes a digest throws ``HTTPError/Code/unsupported``.
public struct DigestAlgorithm: Sendable, Hashable, CustomStringConvertible {
    package let function: HashFunction
    /// Its key in the fields of RFC 9530, such as `sha-256`.
    public let name: String
    /// How many bytes a digest has.
    public let length: Int

    /// SHA-256 (FIPS 180-4).
    public static let sha256 = DigestAlgorithm(function: .sha256, name: "sha-256", length: 32)
    /// SHA-512 (FIPS 180-4).
    public static let sha512 = DigestAlgorithm(function: .sha512, name: "sha-512", length: 64)

    /// The name.
    public var description: String { name }

    /// The digest of bytes in memory.
    package func digest(of bytes: [UInt8]) throws -> [UInt8] { try function.hash(bytes) }
}

/// The digest that a body or file has to have.
///
/// ```swift
/// let options = DownloadOptions(digest: try .sha256(hex: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"))
/// ```
public struct ExpectedDigest: Sendable, Hashable {
    /// The function.
    public let algorithm: DigestAlgorithm
    /// The digest.
    public let value: [UInt8]

    /// Expects a digest.
    public init(_ algorithm: DigestAlgorithm, _ value: [UInt8]) {
        self.algorithm = algorithm
        self.value = value
    }

    /// Expects a digest in hexadecimal digits, as `sha256sum` prints it.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the text is no digest of this function.
    public init(_ algorithm: DigestAlgorithm, hex text: String) throws {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        guard digits.count == text.utf8.count, digits.count == 2 * algorithm.length else {
            throw HTTPError(
                .invalidRequest, "A digest by \(algorithm) has \(2 * algorithm.length) hexadecimal digits.", phase: .notSent)
        }
        self.init(algorithm, stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// A digest by SHA-256, of 32 bytes.
    public static func sha256(_ value: [UInt8]) -> ExpectedDigest { ExpectedDigest(.sha256, value) }
    /// A digest by SHA-512, of 64 bytes.
    public static func sha512(_ value: [UInt8]) -> ExpectedDigest { ExpectedDigest(.sha512, value) }

    /// A digest by SHA-256 in 64 hexadecimal digits.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` for any other text.
    public static func sha256(hex text: String) throws -> ExpectedDigest { try ExpectedDigest(.sha256, hex: text) }
    /// A digest by SHA-512 in 128 hexadecimal digits.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` for any other text.
    public static func sha512(hex text: String) throws -> ExpectedDigest { try ExpectedDigest(.sha512, hex: text) }

    /// Throws ``HTTPError/Code/digestMismatch`` for another digest than the expected one, which `source` named.
    package func check(_ actual: [UInt8], toldBy source: String) throws {
        guard actual != value else { return }
        throw HTTPError(
            .digestMismatch,
            "The digest of the body by \(algorithm) is \(actual.hexadecimal); \(source) says \(value.hexadecimal).",
            phase: .answered)
    }
}

private enum RepresentationDigestsKey: RequestContextKey {
    static var defaultValue: (@Sendable (HTTPHeaders?) -> [ExpectedDigest])? { nil }
}

extension HTTPResponse {
    /// The digests of the whole that it names in its head, and behind its body once that has been read, for those who join it of parts. With the
    /// response, since one that isn't taken says nothing about another.
    package var representationDigests: [ExpectedDigest] { readRepresentationDigests?(trailers) ?? [] }

    /// Reads them off the head and these trailers.
    package var readRepresentationDigests: (@Sendable (_ trailers: HTTPHeaders?) -> [ExpectedDigest])? {
        get { context[RepresentationDigestsKey.self] }
        set { context[RepresentationDigestsKey.self] = newValue }
    }
}

extension HTTPBody {
    /// The digest of the body, which is read for it.
    ///
    /// ```swift
    /// let digest = try await HTTPBody.file(film).digest(.sha256)
    /// ```
    ///
    /// - Throws: ``HTTPError/Code/bodyNotReplayable`` for a body that can be read only once, without reading it; what reading it throws;
    ///   ``HTTPError/Code/unsupported`` without the system's library; `CancellationError`.
    public func digest(_ algorithm: DigestAlgorithm) async throws -> [UInt8] {
        if let bytes { return try algorithm.digest(of: bytes) }
        guard replayability == .replayable else {
            throw HTTPError(
                .bodyNotReplayable, "The body can be read only once, which its digest would take.", phase: .notSent)
        }
        let hashing = try Hashing(algorithm.function)
        for try await chunk in self {
            // A file never waits: it would be read to its end whoever has given up, and keep its thread from all others.
            try Task.checkCancellation()
            await Task.yield()
            try hashing.update(chunk)
        }
        return try hashing.finish()
    }

    /// The same body, which fails with ``HTTPError/Code/digestMismatch`` in place of its end when its digest is another. A body in
    /// memory is checked at once.
    ///
    /// - Parameter source: Who says what it has to be.
    /// - Throws: The mismatch of a body in memory; when the algorithm can't be used.
    package func checked(
        against expected: ExpectedDigest, toldBy source: String = "who asked for it"
    ) throws -> HTTPBody {
        let function = expected.algorithm.function
        if let bytes {
            try expected.check(expected.algorithm.digest(of: bytes), toldBy: source)
            return self
        }
        // Now, since a failure at the beginning of a reading would look like one of the transport.
        _ = try Hashing(function)
        return checked {
            let hashing = try Hashing(function)
            return BodyCheck {
                try hashing.update($0)
            } atEnd: { _ in
                try expected.check(hashing.finish(), toldBy: source)
            }
        }
    }
}
