#if canImport(CryptoKit)
    internal import CryptoKit
    internal import Foundation
#else
    internal import CCrypto
#endif

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): 12 random bytes, the sealed ones, and a tag of 16.
enum AESGCM {
    struct Refused: Error {}

    private static let nonceLength = 12
    private static let tagLength = 16

    #if canImport(CryptoKit)
        static let isThere = true

        static func seal(_ bytes: [UInt8], by secret: [UInt8], with context: [UInt8]) throws -> [UInt8] {
            let box = try AES.GCM.seal(bytes, using: SymmetricKey(data: secret), authenticating: context)
            guard let combined = box.combined else { throw Refused() }
            return Array(combined)
        }

        static func open(_ bytes: [UInt8], by secret: [UInt8], with context: [UInt8]) -> [UInt8]? {
            guard let box = try? AES.GCM.SealedBox(combined: bytes) else { return nil }
            return (try? AES.GCM.open(box, using: SymmetricKey(data: secret), authenticating: context)).map { Array($0) }
        }
    #else
        private static let library: ccrypto_gcm? = ccrypto_find_gcm()?.pointee

        static var isThere: Bool { library != nil }

        static func seal(_ bytes: [UInt8], by secret: [UInt8], with context: [UInt8]) throws -> [UInt8] {
            guard var library, secret.count == 32 else { throw Refused() }
            let nonce = (0..<nonceLength).map { _ in UInt8.random(in: .min ... .max) }
            var sealed = [UInt8](repeating: 0, count: bytes.count)
            var tag = [UInt8](repeating: 0, count: tagLength)
            let isSealed = ccrypto_gcm_seal(
                &library, secret, nonce, context, Int32(context.count), bytes, Int32(bytes.count), &sealed, &tag)
            guard isSealed != 0 else { throw Refused() }
            return nonce + sealed + tag
        }

        static func open(_ bytes: [UInt8], by secret: [UInt8], with context: [UInt8]) -> [UInt8]? {
            guard var library, secret.count == 32, bytes.count >= nonceLength + tagLength else { return nil }
            let sealed = Array(bytes[nonceLength..<(bytes.count - tagLength)])
            var tag = Array(bytes.suffix(tagLength))
            var opened = [UInt8](repeating: 0, count: sealed.count)
            let isOpened = ccrypto_gcm_open(
                &library, secret, Array(bytes.prefix(nonceLength)), context, Int32(context.count), sealed, Int32(sealed.count),
                &opened, &tag)
            return isOpened != 0 ? opened : nil
        }
    #endif
}
