#if os(Linux)
    @testable import MidstreamLoop

    /// Has the decoders of Linux's transports undo encodings of a body that comes in pieces.
    enum EncodedBody {
        private static let codings: [[ContentCoding]] = [
            [.gzip], [.deflate], [.brotli], [.zstandard], [.gzip, .gzip], [.brotli, .gzip], [.zstandard, .brotli],
        ]
        private static let ratio = 100
        private nonisolated(unsafe) static let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)

        /// The first byte says which encodings, and the second how large the pieces are.
        static func read(_ bytes: [UInt8]) {
            guard bytes.count > 2, let decoder = try? BodyDecoding(codings[Int(bytes[0]) % codings.count], ratio: ratio)
            else { return }
            let size = Int(bytes[1]) + 1
            var made = 0
            for start in stride(from: 2, to: bytes.count, by: size) {
                let end = min(start + size, bytes.count)
                guard decode(bytes[start..<end], by: decoder, &made) else { return }
                precondition(made <= max(16 << 20, ratio * (end - 2)), "\(made) bytes have been made of \(end - 2)")
            }
            _ = decoder.isComplete
        }

        /// As the transport does it; false when the body can't be decoded.
        private static func decode(_ bytes: ArraySlice<UInt8>, by decoder: BodyDecoding, _ made: inout Int) -> Bool {
            bytes.withUnsafeBytes { bytes in
                var input = bytes
                var idle = 0
                while !input.isEmpty || !decoder.isHungry {
                    let before = input.count
                    guard let step = try? decoder.decode(&input, into: space) else { return false }
                    made += step.count
                    idle = step.work == 0 && input.count == before ? idle + 1 : 0
                    // Each step has to bring the end nearer, or the loop would never come to it.
                    precondition(idle < 3, "nothing is taken and nothing is made")
                }
                return true
            }
        }
    }
#endif
