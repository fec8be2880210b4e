import Foundation
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("A fleet's key")
struct FleetKeyTests {
    @Test("opens what it sealed, in its place only", arguments: [0, 1, 100_000])
    func seals(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try testKey.seal(bytes, for: "a")
        #expect(testKey.open(sealed, of: "a") == bytes)
        #expect(testKey.open(sealed, of: "b") == nil)
        #expect(makeKey(2).open(sealed, of: "a") == nil)
        #expect(FleetKey.unsealed.open(sealed, of: "a") == nil)
        #expect(try testKey.seal(bytes, for: "a") != sealed)
        for place in [0, 1, sealed.count / 2, sealed.count - 1] {
            var other = sealed
            other[place] ^= 1
            #expect(testKey.open(other, of: "a") == nil)
        }
        for length in [0, 1, 5, sealed.count - 1] { #expect(testKey.open(Array(sealed.prefix(length)), of: "a") == nil) }
    }

    @Test("agrees with the published vector")
    func vector() {
        // Test case 14 of the submission of GCM to NIST: a key, a nonce and 16 bytes of zeros.
        let sealed = [UInt8](repeating: 0, count: 12) + bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
        #expect(AESGCM.open(sealed, by: [UInt8](repeating: 0, count: 32), with: []) == [UInt8](repeating: 0, count: 16))
    }

    @Test("is replaced by one that opens both")
    func rotation() throws {
        let (old, new) = (Data(repeating: 1, count: 32), Data(repeating: 2, count: 32))
        let both = try FleetKey(base64: new.base64EncodedString(), alsoOpening: old.base64EncodedString())
        #expect(both.open(try testKey.seal([1, 2], for: "a"), of: "a") == [1, 2])
        #expect(makeKey(2).open(try both.seal([3], for: "a"), of: "a") == [3])
    }

    @Test("of another length is refused", arguments: ["", "AAAA", "no base64!", Data(count: 31).base64EncodedString()])
    func malformed(text: String) {
        #expect(throws: FleetKey.Invalid.malformed) { try FleetKey(base64: text) }
    }

    @Test("that the environment lacks is named")
    func missing() {
        #expect(throws: FleetKey.Invalid.missing(variable: "MIDSTREAM_NO_KEY")) { try FleetKey.environment("MIDSTREAM_NO_KEY") }
    }

    @Test("shows nothing of itself")
    func secrets() {
        var text = "\(testKey)"
        dump(testKey, to: &text)
        #expect(!text.contains("secrets") && !text.contains("- 1"))
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
