internal import Foundation
internal import MidstreamCore

/// A field of RFC 9530: digests by the names of their functions, as a dictionary of byte sequences (RFC 8941 §3.2).
struct DigestField: Sendable {
    /// Those by functions that are known.
    private(set) var digests: [ExpectedDigest] = []
    /// Whether some of it isn't what it should be. Such parts don't count.
    private(set) var isMalformed = false

    /// The functions that are known. Others are broken, or too new.
    static let algorithms: [DigestAlgorithm] = [.sha256, .sha512]

    /// Reads the value of a field.
    init(_ value: String) {
        var scanner = FieldValueScanner(value)
        while true {
            scanner.skipSpace()
            if !readMember(&scanner) { isMalformed = true }
            // Parameters have no meaning here.
            scanner.skip(to: ",")
            guard scanner.take(",") else { return }
        }
    }

    /// Reads a digest; false when it isn't what it should be.
    private mutating func readMember(_ scanner: inout FieldValueScanner) -> Bool {
        guard let key = scanner.token(), scanner.take("="), scanner.take(":"), let text = scanner.part(through: ":"),
            let bytes = Data(base64Encoded: scanner.text(text))
        else { return false }
        let name = scanner.text(key)
        guard let algorithm = Self.algorithms.first(where: { $0.name == name }) else { return true }
        guard bytes.count == algorithm.length else { return false }
        // The last of a name counts (RFC 8941 §4.2.2).
        digests.removeAll { $0.algorithm == algorithm }
        digests.append(ExpectedDigest(algorithm, [UInt8](bytes)))
        return true
    }
}

extension HTTPHeaders.Name {
    /// Of what is in the message, content codings included.
    static let contentDigest: Self = "Content-Digest"
    /// Of the whole representation, content codings included.
    static let reprDigest: Self = "Repr-Digest"
    /// Of the whole representation without content codings.
    static let unencodedDigest: Self = "Unencoded-Digest"
}
