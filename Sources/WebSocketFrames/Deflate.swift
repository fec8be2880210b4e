internal import CCompression

/// Compresses messages for permessage-deflate (RFC 7692 §7.2.1), each after the other. Before the first one it takes no memory of zlib's, which
/// is 256 KiB with the usual window.
///
/// `@unchecked Sendable`: not used by two tasks at a time; whoever has it sees to that.
package final class Deflater: @unchecked Sendable {
    private static let library: ccompression_zlib_encoder? = ccompression_find_zlib_encoder()?.pointee

    /// Whether zlib is there, to compress and to inflate.
    package static var isAvailable: Bool { library != nil && Inflater.isAvailable }

    // zlib's numbers. A full flush forgets what came before.
    private static let syncFlush: Int32 = 2
    private static let fullFlush: Int32 = 3

    private let zlib: ccompression_zlib_encoder
    private let windowBits: Int32
    private let flush: Int32
    private lazy var stream = ZlibStream(zlib.end) { ccompression_begin_raw_deflating([zlib], $0, -windowBits) }

    /// - Parameters:
    ///   - windowBits: 9 to 15; zlib can't deflate with fewer without its own header.
    ///   - keepsContext: Whether a message may refer to those before it.
    package init?(windowBits: Int, keepsContext: Bool) {
        guard let zlib = Self.library, (9...15).contains(windowBits) else { return nil }
        self.zlib = zlib
        self.windowBits = Int32(windowBits)
        flush = keepsContext ? Self.syncFlush : Self.fullFlush
    }

    /// The payload of a message; nil when zlib fails, which has no memory then, and for more than it takes at a time, 4 GiB.
    package func deflate(_ message: [UInt8]) -> [UInt8]? {
        // A flush of nothing after another one gives nothing; an empty block without its end says the same (RFC 7692 §7.2.3.6).
        guard !message.isEmpty else { return [0] }
        guard let count = UInt32(exactly: message.count), let stream = stream?.state else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(message.count / 4 + 64)
        let isDone = message.withUnsafeBufferPointer { input in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 << 10) { room in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.available_in = count
                repeat {
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.available_out = UInt32(room.count)
                    guard zlib.deflate(stream, flush) == 0 else { return false }
                    output += room[..<(room.count - Int(stream.pointee.available_out))]
                } while stream.pointee.available_out == 0
                return stream.pointee.available_in == 0
            }
        }
        guard isDone, output.suffix(4) == Inflater.tail[...] else { return nil }
        output.removeLast(4)
        return output
    }
}

/// Inflates messages of permessage-deflate (RFC 7692 §7.2.2). Before the first one it takes no memory of zlib's.
///
/// `@unchecked Sendable`: as ``Deflater``.
package final class Inflater: @unchecked Sendable {
    enum Progress { case done, tooLarge, corrupt }

    /// What a sender has cut off the end of each message.
    static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    private static let library: ccompression_zlib_decoder? = ccompression_find_zlib_decoder()?.pointee

    static var isAvailable: Bool { library != nil }

    // zlib's numbers.
    private static let syncFlush: Int32 = 2
    private static let streamEnd: Int32 = 1
    private static let noProgress: Int32 = -5

    private let zlib: ccompression_zlib_decoder
    private let windowBits: Int32
    private lazy var stream = ZlibStream(zlib.end) { ccompression_begin_inflating([zlib], $0, -windowBits) }

    /// - Parameter windowBits: 8 to 15, at least those of the sender.
    package init?(windowBits: Int) {
        guard let zlib = Self.library, (8...15).contains(windowBits) else { return nil }
        self.zlib = zlib
        self.windowBits = Int32(windowBits)
    }

    /// Appends what a piece is once inflated, as long as the output isn't larger than the limit.
    func inflate(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8], limit: Int) -> Progress {
        guard let stream = stream?.state else { return .corrupt }
        return bytes.withUnsafeBufferPointer { input in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 << 10) { room in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.available_in = UInt32(clamping: input.count)
                while true {
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.available_out = UInt32(room.count)
                    let status = zlib.inflate(stream, Self.syncFlush)
                    let count = room.count - Int(stream.pointee.available_out)
                    guard count <= limit - output.count else { return .tooLarge }
                    output += room[..<count]
                    switch status {
                    case 0: break
                    // A last block may be followed by others (RFC 7692 §7.2.3.5).
                    case Self.streamEnd: guard zlib.reset(stream) == 0 else { return .corrupt }
                    case Self.noProgress: return stream.pointee.available_in == 0 ? .done : .corrupt
                    default: return .corrupt
                    }
                    if stream.pointee.available_in == 0, stream.pointee.available_out > 0 { return .done }
                }
            }
        }
    }
}

/// zlib's state, of which it keeps the address.
private final class ZlibStream {
    typealias State = UnsafeMutablePointer<ccompression_zlib_stream>
    typealias End = @convention(c) (State?) -> Int32

    let state = State.allocate(capacity: 1)
    private let end: End

    /// Nil when zlib can't begin; ending that does nothing.
    init?(_ end: @escaping End, _ begin: (State) -> Int32) {
        self.end = end
        state.initialize(to: ccompression_zlib_stream())
        guard begin(state) == 0 else { return nil }
    }

    deinit {
        _ = end(state)
        state.deallocate()
    }
}
