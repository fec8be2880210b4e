#if os(Linux)
    internal import CCompression

    /// gzip (RFC 1952), of one member or several, and deflate in zlib's format (RFC 1950) or, as some servers send it, without (RFC 1951).
    final class ZlibDecoder: ContentDecoder {
        static let library: ccompression_zlib_decoder? = ccompression_find_zlib_decoder()?.pointee

        // zlib's numbers.
        private static let noFlush: Int32 = 0
        private static let streamEnd: Int32 = 1
        private static let noProgress: Int32 = -5

        private let zlib: ccompression_zlib_decoder
        private let isGzip: Bool
        /// The first byte of deflate tells whether it is in zlib's format.
        private var mayBeRaw: Bool
        /// zlib keeps its address.
        private let stream = UnsafeMutablePointer<ccompression_zlib_stream>.allocate(capacity: 1)
        private(set) var holdsOutput = false
        private(set) var isComplete = false

        init?(isGzip: Bool) {
            guard var zlib = Self.library else { return nil }
            stream.initialize(to: ccompression_zlib_stream())
            guard ccompression_begin_inflating(&zlib, stream, isGzip ? 31 : 15) == 0 else {
                stream.deallocate()
                return nil
            }
            self.zlib = zlib
            self.isGzip = isGzip
            mayBeRaw = !isGzip
        }

        deinit {
            _ = zlib.end(stream)
            stream.deallocate()
        }

        func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> Int {
            if mayBeRaw, let first = input.first {
                mayBeRaw = false
                // The method, 8, is in the low four bits of zlib's head (RFC 1950 §2.2).
                if first & 15 != 8 { try beginRaw() }
            }
            if isComplete {
                // Zeros behind a member are padding, which gzip's own program and browsers pass over.
                if isGzip { input = UnsafeRawBufferPointer(rebasing: input.drop(while: { $0 == 0 })) }
                guard !input.isEmpty else { return 0 }
                // A further member (RFC 1952 §2.2); zlib's format has none.
                guard isGzip, zlib.reset(stream) == 0 else { throw .corrupt }
                isComplete = false
            }
            let count = UInt32(clamping: input.count)
            let room = UInt32(clamping: output.count)
            stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.available_in = count
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.available_out = room
            let status = zlib.inflate(stream, Self.noFlush)
            guard status == 0 || status == Self.streamEnd || status == Self.noProgress else { throw .corrupt }
            isComplete = status == Self.streamEnd
            holdsOutput = !isComplete && stream.pointee.available_out == 0
            input = UnsafeRawBufferPointer(rebasing: input[Int(count - stream.pointee.available_in)...])
            return Int(room - stream.pointee.available_out)
        }

        private func beginRaw() throws(DecodingFault) {
            _ = zlib.end(stream)
            stream.pointee = ccompression_zlib_stream()
            var library = zlib
            guard ccompression_begin_inflating(&library, stream, -15) == 0 else { throw .noMemory }
        }
    }

    /// Brotli (RFC 7932), whose window is 16 MiB at most.
    final class BrotliDecoder: ContentDecoder {
        static let library: ccompression_brotli_decoder? = ccompression_find_brotli_decoder()?.pointee

        // brotli's numbers.
        private static let failure: Int32 = 0
        private static let success: Int32 = 1

        private let brotli: ccompression_brotli_decoder
        private let state: UnsafeMutableRawPointer
        private(set) var holdsOutput = false
        private(set) var isComplete = false

        init?() {
            guard let brotli = Self.library, let state = brotli.create(nil, nil, nil) else { return nil }
            self.brotli = brotli
            self.state = state
        }

        deinit { brotli.destroy(state) }

        func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> Int {
            if isComplete {
                guard input.isEmpty else { throw .corrupt }
                return 0
            }
            var left = input.count
            var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var room = output.count
            var place = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let status = brotli.decompress(state, &left, &next, &room, &place, nil)
            guard status != Self.failure else { throw .corrupt }
            isComplete = status == Self.success
            // The status doesn't tell: where the input is used up it asks for more of it, however much is left to be handed out.
            holdsOutput = brotli.has_more_output(state) != 0
            input = UnsafeRawBufferPointer(rebasing: input[(input.count - left)...])
            return output.count - room
        }
    }

    /// Zstandard (RFC 8878), of one frame or several, with the window that RFC 9659 allows: 8 MiB.
    final class ZstandardDecoder: ContentDecoder {
        static let library: ccompression_zstd_decoder? = ccompression_find_zstd_decoder()?.pointee

        /// `ZSTD_d_windowLogMax`.
        private static let largestWindow: Int32 = 100

        private let zstd: ccompression_zstd_decoder
        private let state: UnsafeMutableRawPointer
        private(set) var holdsOutput = false
        private(set) var isComplete = false

        init?() {
            guard let zstd = Self.library, let state = zstd.create() else { return nil }
            guard zstd.is_error(zstd.set(state, Self.largestWindow, 23)) == 0 else {
                _ = zstd.destroy(state)
                return nil
            }
            self.zstd = zstd
            self.state = state
        }

        deinit { _ = zstd.destroy(state) }

        func decode(
            _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(DecodingFault) -> Int {
            // Asked for nothing, zstd would say that it waits for the next frame.
            if isComplete, input.isEmpty { return 0 }
            var source = ccompression_zstd_input(bytes: input.baseAddress, size: input.count, position: 0)
            var target = ccompression_zstd_output(bytes: output.baseAddress, size: output.count, position: 0)
            let status = zstd.decompress(state, &target, &source)
            guard zstd.is_error(status) == 0 else { throw .corrupt }
            isComplete = status == 0
            holdsOutput = !isComplete && target.position == target.size
            input = UnsafeRawBufferPointer(rebasing: input[source.position...])
            return target.position
        }
    }
#endif
