import MidstreamCore
import Testing

@testable import MidstreamSigning

@Suite struct HashFunctionTests {
    @Test func theSystemsHashesAreThoseOfTheStandards() throws {
        // RFC 1321 §A.5, FIPS 180-4.
        #expect(try HashFunction.md5.hexadecimal("") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(try HashFunction.md5.hexadecimal("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(
            try HashFunction.sha256.hexadecimal("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            try HashFunction.sha512.hexadecimal("abc")
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    }

    @Test func piecesHashLikeTheWhole() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let hashing = try Hashing(.sha256)
        for start in stride(from: 0, to: bytes.count, by: 777) {
            try hashing.update(Array(bytes[start..<min(start + 777, bytes.count)]))
        }
        #expect(try hashing.finish() == HashFunction.sha256.hash(bytes))
    }

    @Test func authenticationCodesAreThoseOfTheStandard() throws {
        // RFC 4231 §4.3 and §4.7: a short key and one longer than a block.
        #expect(
            try HashFunction.authenticationCode(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)).hexadecimal
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let text = "Test Using Larger Than Block-Size Key - Hash Key First"
        #expect(
            try HashFunction.authenticationCode(Array(text.utf8), key: Array(repeating: 0xaa, count: 131)).hexadecimal
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }
}
