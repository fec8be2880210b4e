/// Writes frames (RFC 6455 §5.2).
package enum FrameWriter {
    /// A whole frame: a client's, which is masked, or a server's.
    package static func frame(
        _ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, isCompressed: Bool = false, mask: UInt32? = nil
    ) -> [UInt8] {
        append(
            payload, 0..<payload.count, mask: mask,
            to: head(opcode, length: payload.count, isFinal: isFinal, isCompressed: isCompressed, mask: mask))
    }

    /// What comes before a payload.
    package static func head(_ opcode: Opcode, length: Int, isFinal: Bool, isCompressed: Bool, mask: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(14)
        bytes.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
        let masked: UInt8 = mask == nil ? 0 : 0x80
        switch length {
        case ...125: bytes.append(masked | UInt8(length))
        case ...0xFFFF: bytes += [masked | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        default:
            bytes.append(masked | 127)
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        }
        if let mask { bytes += Masking.bytes(of: mask) }
        return bytes
    }

    /// A head with a part of a payload behind it, masked from the part's beginning.
    package static func append(_ payload: [UInt8], _ range: Range<Int>, mask: UInt32?, to head: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + range.count)
        bytes += head
        bytes += payload[range]
        if let mask { Masking.apply(Masking.bytes(of: mask), to: &bytes, from: 0, at: head.count) }
        return bytes
    }
}

/// RFC 6455 §5.3.
enum Masking {
    static func bytes(of mask: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: mask >> (24 - 8 * $0)) } }

    /// Masks the bytes from `start` on, or unmasks them; `offset` others of the payload come before them.
    static func apply(_ mask: [UInt8], to bytes: inout [UInt8], from offset: Int, at start: Int = 0) {
        var word: UInt64 = 0
        for place in 0..<8 { word |= UInt64(mask[(offset + place) & 3]) << (8 * place) }
        let pattern = word.littleEndian
        bytes.withUnsafeMutableBytes { bytes in
            var place = start
            while place + 8 <= bytes.count {
                let eight = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                bytes.storeBytes(of: eight ^ pattern, toByteOffset: place, as: UInt64.self)
                place += 8
            }
            while place < bytes.count {
                bytes[place] ^= mask[(offset + place - start) & 3]
                place += 1
            }
        }
    }
}
