internal import Foundation

/// Certificates as text (RFC 7468 §5).
enum CertificateText {
    /// The certificates of a text in the order in which they stand there, each in DER; nil when one can't be read.
    static func certificates(in text: String) -> [Data]? {
        var certificates: [Data] = []
        var rest = text[...]
        while let start = rest.range(of: "-----BEGIN CERTIFICATE-----") {
            guard let end = rest.range(of: "-----END CERTIFICATE-----", range: start.upperBound..<rest.endIndex),
                let bytes = Data(
                    base64Encoded: String(rest[start.upperBound..<end.lowerBound]), options: .ignoreUnknownCharacters)
            else { return nil }
            certificates.append(bytes)
            rest = rest[end.upperBound...]
        }
        return certificates
    }
}
