/// The hash functions that the system's library provides: CryptoKit on Apple's platforms, libcrypto elsewhere.
enum HashFunction: Sendable, Hashable {
    /// RFC 1321. Broken, and still what many servers use in the Digest scheme.
    case md5
    /// FIPS 180-4.
    case sha256
    /// FIPS 180-4.
    case sha512
}

extension HashFunction {
    /// The hash of bytes in memory.
    ///
    /// - Throws: ``HTTPError/Code/unsupported`` when the system's library refuses the function.
    func hash(_ bytes: some Sequence<UInt8>) throws -> [UInt8] {
        var hashing = try Hashing(self)
        try hashing.update(Array(bytes))
        return try hashing.finish()
    }

    /// The hash of a text's UTF-8, in small hexadecimal digits.
    func hexadecimal(_ text: String) throws -> String { try hash(text.utf8).hexadecimal }
}

extension [UInt8] {
    /// The bytes as small hexadecimal digits.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
