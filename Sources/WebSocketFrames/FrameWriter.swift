/// Writes frames (RFC 6455 §5.2).
package enum FrameWriter {
    /// A whole frame: a client's, which is masked, or a server's.
    ///
    /// - Parameter range: The part of the payload that it carries; nil: all.
    package static func frame(
        _ opcode: Opcode, _ payload: [UInt8], _ range: Range<Int>? = nil, isFinal: Bool = true, isCompressed: Bool = false,
        mask: UInt32? = nil
    ) -> [UInt8] {
        let range = range ?? 0..<payload.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(14 + range.count)
        bytes.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
        let masked: UInt8 = mask == nil ? 0 : 0x80
        switch range.count {
        case ...125: bytes.append(masked | UInt8(range.count))
        case ...0xFFFF:
            bytes.append(masked | 126)
            append(UInt16(range.count), to: &bytes)
        default:
            bytes.append(masked | 127)
            append(UInt64(range.count), to: &bytes)
        }
        if let mask { append(mask, to: &bytes) }
        let start = bytes.count
        bytes += payload[range]
        if let mask { Masking.apply(mask, to: &bytes, from: 0, at: start) }
        return bytes
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// RFC 6455 §5.3.
enum Masking {
    /// Masks the bytes from `start` on, or unmasks them; `offset` others of the payload come before them.
    static func apply(_ mask: UInt32, to bytes: inout [UInt8], from offset: Int, at start: Int = 0) {
        let turn = UInt32(8 * (offset & 3))
        let four = mask << turn | mask >> (32 - turn)
        let pattern = (UInt64(four) << 32 | UInt64(four)).bigEndian
        bytes.withUnsafeMutableBytes { bytes in
            var place = start
            while place + 8 <= bytes.count {
                let eight = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                bytes.storeBytes(of: eight ^ pattern, toByteOffset: place, as: UInt64.self)
                place += 8
            }
            while place < bytes.count {
                bytes[place] ^= UInt8(truncatingIfNeeded: four >> (24 - 8 * ((place - start) & 3)))
                place += 1
            }
        }
    }
}
