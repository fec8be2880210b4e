#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import CCrypto
#endif

/// The hash functions of the system's library: CryptoKit on Apple's platforms, libcrypto elsewhere.
package enum HashFunction: Sendable {
    /// RFC 1321. Broken, and still what many servers use in the Digest scheme.
    case md5
    /// FIPS 180-4.
    case sha256
    /// FIPS 180-4.
    case sha512

    /// The hash of bytes in memory.
    ///
    /// - Throws: ``HTTPError/Code/unsupported`` when the system has no library for it, or the library refuses the function.
    package func hash(_ bytes: some Sequence<UInt8>) throws -> [UInt8] {
        let hashing = try Hashing(self)
        try hashing.update(Array(bytes))
        return try hashing.finish()
    }
}

#if canImport(CryptoKit)
    /// A hash computed from pieces, by one task at a time.
    package final class Hashing {
        private var hash: any CryptoKit.HashFunction

        package init(_ function: HashFunction) throws {
            switch function {
            case .md5: hash = Insecure.MD5()
            case .sha256: hash = SHA256()
            case .sha512: hash = SHA512()
            }
        }

        /// Takes the next piece.
        package func update(_ bytes: [UInt8]) throws { hash.update(data: bytes) }

        /// The hash of all pieces; no other may follow.
        package func finish() throws -> [UInt8] { Array(hash.finalize()) }
    }
#else
    /// A hash computed from pieces, by one task at a time.
    package final class Hashing {
        private let library: ccrypto_library
        private let context: UnsafeMutableRawPointer

        private static let library: ccrypto_library? = ccrypto_find()?.pointee

        package init(_ function: HashFunction) throws {
            guard let library = Self.library else {
                throw HTTPError.unsupported("Digests need libcrypto of OpenSSL: libcrypto.so.3, .4 or .1.1.")
            }
            guard let context = library.create() else { throw Self.refused }
            self.library = library
            self.context = context
            let method =
                switch function {
                case .md5: library.md5()
                case .sha256: library.sha256()
                case .sha512: library.sha512()
                }
            // The machine's policy (FIPS) may forbid MD5.
            guard library.begin(context, method, nil) == 1 else { throw Self.refused }
        }

        deinit { library.free(context) }

        /// Takes the next piece.
        package func update(_ bytes: [UInt8]) throws {
            guard library.update(context, bytes, bytes.count) == 1 else { throw Self.refused }
        }

        /// The hash of all pieces; no other may follow.
        package func finish() throws -> [UInt8] {
            var hash = [UInt8](repeating: 0, count: Int(CCRYPTO_LONGEST_HASH))
            var length: UInt32 = 0
            guard library.finish(context, &hash, &length) == 1 else { throw Self.refused }
            return Array(hash.prefix(Int(length)))
        }

        private static var refused: HTTPError { .unsupported("libcrypto refuses the hash function.") }
    }
#endif

extension UnsafeRawBufferPointer {
    /// The bytes as small hexadecimal digits.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 2 * count) { text in
            for (place, byte) in enumerated() {
                text[2 * place] = (byte >> 4).smallHexadecimalDigit
                text[2 * place + 1] = (byte & 15).smallHexadecimalDigit
            }
            return 2 * count
        }
    }
}

extension [UInt8] {
    /// The bytes as small hexadecimal digits.
    package var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}
