internal import Foundation
internal import Interception

extension UUID {
    /// A UUID that no other request has (version 4 in form, RFC 9562 §5.4).
    ///
    /// A random start and a counter, mixed: fresh randomness from the kernel costs more than the rest of the pipeline. It is no secret.
    static func unique() -> UUID {
        let count = counter.withLock { count in
            count &+= 1
            return count
        }
        let high = (start.0 &+ count &* 0x9E37_79B9_7F4A_7C15).mixed & ~0xF000 | 0x4000
        let low = (start.1 ^ count).mixed & ~(0b11 << 62) | 0b10 << 62
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    private static let start = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    private static let counter = Locked<UInt64>(0)
}

extension UInt64 {
    /// A bijection in which each bit of the result depends on each bit of the number (the finalizer of SplitMix64).
    package var mixed: UInt64 {
        var number = self
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }
}
