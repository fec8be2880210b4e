#if canImport(CryptoKit)
    internal import CryptoKit

    /// A hash that is being computed from pieces.
    struct Hashing {
        private enum State {
            case md5(Insecure.MD5)
            case sha256(SHA256)
            case sha512(SHA512)
        }

        private var state: State

        init(_ function: HashFunction) throws {
            switch function {
            case .md5: state = .md5(Insecure.MD5())
            case .sha256: state = .sha256(SHA256())
            case .sha512: state = .sha512(SHA512())
            }
        }

        mutating func update(_ bytes: [UInt8]) throws {
            switch state {
            case .md5(var hash):
                hash.update(data: bytes)
                state = .md5(hash)
            case .sha256(var hash):
                hash.update(data: bytes)
                state = .sha256(hash)
            case .sha512(var hash):
                hash.update(data: bytes)
                state = .sha512(hash)
            }
        }

        func finish() throws -> [UInt8] {
            switch state {
            case .md5(let hash): Array(hash.finalize())
            case .sha256(let hash): Array(hash.finalize())
            case .sha512(let hash): Array(hash.finalize())
            }
        }

        /// HMAC with SHA-256 (RFC 2104).
        static func authenticationCode(_ bytes: [UInt8], key: [UInt8]) throws -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        }
    }
#endif
