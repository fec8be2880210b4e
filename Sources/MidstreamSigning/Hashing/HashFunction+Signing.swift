internal import MidstreamCore

extension HashFunction {
    /// The hash of a text's UTF-8, in small hexadecimal digits.
    func hexadecimal(_ text: String) throws -> String { try hash(text.utf8).hexadecimal }

    /// HMAC with SHA-256 (RFC 2104).
    static func authenticationCode(_ bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
        let blockSize = 64
        var key = key.count > blockSize ? try sha256.hash(key) : key
        key += [UInt8](repeating: 0, count: blockSize - key.count)
        return try sha256.hash(key.map { $0 ^ 0x5c } + sha256.hash(key.map { $0 ^ 0x36 } + bytes))
    }
}
