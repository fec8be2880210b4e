internal import CCompression

/// What follows a piece.
enum CompressionStep {
    /// More: not all that has gone in need come out.
    case goOn
    /// More, later: all that has gone in comes out.
    case flush
    /// Nothing.
    case end
}

/// Compresses a body piece by piece. Used by one task at a time.
protocol Compressor: AnyObject {
    /// Compresses a piece, which may be empty.
    func compress(_ bytes: [UInt8], _ step: CompressionStep) throws -> [UInt8]
}

/// How much is made at once.
private let outputSize = 64 << 10

/// gzip (RFC 1952).
final class GzipCompressor: Compressor {
    static let library: ccompression_zlib_encoder? = ccompression_find_zlib_encoder()?.pointee

    private let zlib: ccompression_zlib_encoder
    /// How many bytes it is given at a time: it counts them in 32 bits.
    private let most: Int
    /// zlib keeps its address.
    private let stream = UnsafeMutablePointer<ccompression_zlib_stream>.allocate(capacity: 1)

    init?(most: Int = 1 << 30, level: Int32 = -1) {
        guard var zlib = Self.library else { return nil }
        self.most = most
        stream.initialize(to: ccompression_zlib_stream())
        guard ccompression_begin_gzip(&zlib, stream, level) == 0 else {
            stream.deallocate()
            return nil
        }
        self.zlib = zlib
    }

    deinit {
        _ = zlib.end(stream)
        stream.deallocate()
    }

    func compress(_ bytes: [UInt8], _ step: CompressionStep) throws -> [UInt8] {
        var result: [UInt8] = []
        try bytes.withUnsafeBufferPointer { input in
            var start = 0
            repeat {
                let end = min(start + most, input.count)
                try compress(UnsafeBufferPointer(rebasing: input[start..<end]), end < input.count ? .goOn : step, into: &result)
                start = end
            } while start < input.count
        }
        return result
    }

    private func compress(_ input: UnsafeBufferPointer<UInt8>, _ step: CompressionStep, into result: inout [UInt8]) throws {
        stream.pointee.next_in = input.baseAddress
        stream.pointee.available_in = UInt32(input.count)
        // Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH.
        let flush: Int32 = step == .end ? 4 : step == .flush ? 2 : 0
        var isDone = false
        while !isDone {
            let piece = try [UInt8](unsafeUninitializedCapacity: outputSize) { output, count in
                stream.pointee.next_out = output.baseAddress
                stream.pointee.available_out = UInt32(output.count)
                // Z_STREAM_END is 1, and an error negative but for Z_BUF_ERROR, -5: nothing to do.
                let status = zlib.deflate(stream, flush)
                guard status >= 0 || status == -5 else { throw Compression.failure }
                count = output.count - Int(stream.pointee.available_out)
                isDone = step == .end ? status == 1 : stream.pointee.available_out > 0
            }
            if result.isEmpty { result = piece } else { result += piece }
        }
    }
}

/// zstd (RFC 8878), with its usual window, which is smaller than what RFC 9659 allows.
final class ZstdCompressor: Compressor {
    static let library: ccompression_zstd_encoder? = ccompression_find_zstd_encoder()?.pointee

    private let zstd: ccompression_zstd_encoder
    private let context: UnsafeMutableRawPointer

    init?() {
        guard let zstd = Self.library, let context = zstd.create() else { return nil }
        self.zstd = zstd
        self.context = context
    }

    deinit { _ = zstd.free(context) }

    func compress(_ bytes: [UInt8], _ step: CompressionStep) throws -> [UInt8] {
        // ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end.
        let directive: Int32 = step == .end ? 2 : step == .flush ? 1 : 0
        var result: [UInt8] = []
        try bytes.withUnsafeBytes { input in
            var input = ccompression_zstd_input(bytes: input.baseAddress, size: input.count, position: 0)
            var isDone = false
            while !isDone {
                let piece = try [UInt8](unsafeUninitializedCapacity: outputSize) { buffer, count in
                    var output = ccompression_zstd_output(bytes: buffer.baseAddress, size: buffer.count, position: 0)
                    // How much is still to come.
                    let rest = zstd.compress(context, &output, &input, directive)
                    guard zstd.is_error(rest) == 0 else { throw Compression.failure }
                    count = output.position
                    isDone = step == .goOn ? input.position == input.size : rest == 0
                }
                if result.isEmpty { result = piece } else { result += piece }
            }
        }
        return result
    }
}
