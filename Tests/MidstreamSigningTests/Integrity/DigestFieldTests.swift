import MidstreamCore
import Testing

@testable import MidstreamSigning

@Suite("Digest fields (RFC 9530)") struct DigestFieldTests {
    private static let hello = Array("{\"hello\": \"world\"}\n".utf8)
    // RFC 9530 §B.1 and §D.
    private static let sha256 = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
    private static let sha512 =
        "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"

    @Test("The standard's examples are written and read")
    func examples() throws {
        #expect(DigestAlgorithm.sha256.field(try DigestAlgorithm.sha256.digest(of: Self.hello)) == Self.sha256)
        #expect(DigestAlgorithm.sha512.field(try DigestAlgorithm.sha512.digest(of: Self.hello)) == Self.sha512)
        for text in ["\(Self.sha256), \(Self.sha512)", "\(Self.sha256)  ,\t\(Self.sha512)"] {
            let field = DigestField(text)
            #expect(!field.isMalformed)
            #expect(field.digests.map(\.algorithm) == [.sha256, .sha512])
            for told in field.digests { #expect(try told.algorithm.digest(of: Self.hello) == told.value) }
        }
    }

    @Test("Functions that aren't known are passed over, and parameters too")
    func unknown() {
        let field = DigestField("md5=:AAAA:, sha-256x=::, \(Self.sha256);a=1;b=\"x,y=:;\";c, SHA-256=:AA==:, unixsum=:AA==:")
        #expect(!field.isMalformed)
        #expect(field.digests.map(\.algorithm) == [.sha256])
        #expect(DigestField("adler=:AAAA:").digests.isEmpty)
    }

    @Test("The last of a name counts")
    func duplicates() {
        let field = DigestField("sha-256=:\(String(repeating: "A", count: 43))=:, \(Self.sha256)")
        #expect(field.digests == DigestField(Self.sha256).digests)
    }

    @Test(
        "What can't be read is told, and the rest is read",
        arguments: [
            "", "sha-256", "sha-256=", "sha-256=abc", "sha-256=\"x\"", "sha-256=:", "sha-256=:*:", "sha-256=:AAAA:", "sha-256=::",
            "=:AAAA:",
            "sha-256=5", "sha-256=?1", "(a b)", "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg:", "sha-256 =:AAAA:",
        ])
    func malformed(text: String) {
        #expect(DigestField(text).isMalformed)
        #expect(DigestField(text).digests.isEmpty)
        let field = DigestField("\(text), \(Self.sha512)")
        #expect(field.isMalformed)
        if text != "sha-256=:" { #expect(field.digests.map(\.algorithm) == [.sha512]) }
    }

    @Test("Digests that are expected, in hexadecimal")
    func hexadecimal() throws {
        let digest = try HashFunction.sha256.hash(Self.hello)
        #expect(try ExpectedDigest(.sha256, hex: digest.hexadecimal) == .sha256(digest))
        #expect(try ExpectedDigest(.sha256, hex: digest.hexadecimal.uppercased()) == .sha256(digest))
        for text in ["", "ab", digest.hexadecimal + "0", "\(digest.hexadecimal.dropLast())g"] {
            #expect(throws: HTTPError.self) { try ExpectedDigest(.sha256, hex: text) }
        }
    }
}
