#if !canImport(CryptoKit)
    internal import CCrypto
    internal import MidstreamCore

    /// A hash that is being computed from pieces.
    struct Hashing: ~Copyable {
        private let context: OpaquePointer

        init(_ function: HashFunction) throws {
            guard let context = EVP_MD_CTX_new() else { throw Self.refused }
            // MD5 isn't there when the machine's policy (FIPS) forbids it.
            guard EVP_DigestInit_ex(context, Self.method(function), nil) == 1 else {
                EVP_MD_CTX_free(context)
                throw Self.refused
            }
            self.context = context
        }

        private static func method(_ function: HashFunction) -> OpaquePointer? {
            switch function {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            }
        }

        deinit { EVP_MD_CTX_free(context) }

        mutating func update(_ bytes: [UInt8]) throws {
            guard EVP_DigestUpdate(context, bytes, bytes.count) == 1 else { throw Self.refused }
        }

        consuming func finish() throws -> [UInt8] {
            var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            guard EVP_DigestFinal_ex(context, &hash, &length) == 1 else { throw Self.refused }
            return Array(hash.prefix(Int(length)))
        }

        /// HMAC with SHA-256 (RFC 2104).
        static func authenticationCode(_ bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
            var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            guard HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, &length) != nil else { throw Self.refused }
            return Array(code.prefix(Int(length)))
        }

        private static var refused: HTTPError {
            HTTPError(.unsupported, "The system's cryptographic library refuses the hash function.", phase: .notSent)
        }
    }
#endif
