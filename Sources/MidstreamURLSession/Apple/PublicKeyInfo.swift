/// What a certificate says of its public key: by its digest keys are pinned (RFC 7469 §2.4), whatever kind they are of.
enum PublicKeyInfo {
    /// The SubjectPublicKeyInfo of a certificate in DER (RFC 5280 §4.1); nil when the bytes are no certificate.
    static func bytes(ofCertificate certificate: [UInt8]) -> ArraySlice<UInt8>? {
        var outermost = DERReader(certificate[...])
        guard let whole = outermost.next(), whole.tag == DERReader.sequence else { return nil }
        var parts = DERReader(whole.content)
        guard let signed = parts.next(), signed.tag == DERReader.sequence else { return nil }
        var fields = DERReader(signed.content)
        guard var field = fields.next() else { return nil }
        // The version is left out when it is the first.
        let version: UInt8 = 0xA0
        if field.tag == version {
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        // Behind the serial number: the signature's algorithm, the issuer, the time of validity and the subject.
        for _ in 0..<4 { guard fields.next()?.tag == DERReader.sequence else { return nil } }
        guard let key = fields.next(), key.tag == DERReader.sequence else { return nil }
        return key.whole
    }
}

/// Reads elements of DER (X.690 §8.1, §10.1), one after the other.
struct DERReader {
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        /// With the tag and the length.
        let whole: ArraySlice<UInt8>
    }

    /// The tag of a sequence.
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next element; nil at the end, and when there is none that is whole.
    mutating func next() -> Element? {
        guard rest.count >= 2 else { return nil }
        let (tag, first) = (rest[rest.startIndex], rest[rest.startIndex + 1])
        var content = rest.startIndex + 2
        var length = Int(first)
        if first >= 0x80 {
            // In so many bytes; no certificate needs more than three.
            let count = Int(first & 0x7F)
            guard 1...3 ~= count, rest.endIndex - content >= count else { return nil }
            length = rest[content..<(content + count)].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard rest.endIndex - content >= length else { return nil }
        let end = content + length
        defer { rest = rest[end...] }
        return Element(tag: tag, content: rest[content..<end], whole: rest[..<end])
    }
}
