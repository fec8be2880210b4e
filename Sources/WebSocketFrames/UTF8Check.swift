/// Checks UTF-8 (RFC 3629) that comes in pieces, and fails at the first byte that no valid text has there.
package struct UTF8Check {
    /// How many bytes of the character are still to come.
    private var needed: UInt8 = 0
    /// What the next one may be.
    private var range: ClosedRange<UInt8> = 0x80...0xBF

    package init() {}

    /// Whether no character is cut.
    package var isAtBoundary: Bool { needed == 0 }

    /// False when there is a wrong byte.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place < bytes.count {
            if needed == 0 {
                while place + 8 <= bytes.count,
                    bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                { place += 8 }
                guard place < bytes.count else { break }
            }
            guard take(bytes[place]) else { return false }
            place += 1
        }
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        if needed > 0 {
            guard range.contains(byte) else { return false }
            needed -= 1
            range = 0x80...0xBF
            return true
        }
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: needed = 1
        case 0xE0: (needed, range) = (2, 0xA0...0xBF)
        // No surrogates.
        case 0xED: (needed, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: needed = 2
        case 0xF0: (needed, range) = (3, 0x90...0xBF)
        case 0xF1...0xF3: needed = 3
        case 0xF4: (needed, range) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
