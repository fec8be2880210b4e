#if Curl && os(Linux)
    /// The memory and the time that a loop gives to decoding.
    ///
    /// Touched only on the loop's thread.
    final class DecodingRoom {
        /// What one step of a decoder fills.
        private static let step = 64 << 10
        /// How many bytes are decoded between two looks at the sockets: some milliseconds' work. A piece of 16 KiB can become 16 MiB.
        private static let turn = 4 << 20

        /// How many bytes have been decoded since the last look at the sockets.
        var work = 0 { didSet { most = max(most, work) } }
        /// The most there was: what the tests look at.
        private(set) var most = 0
        /// Where decoders put what they make.
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)

        deinit { space.deallocate() }

        /// Whether another step has to wait for the next turn.
        var isUsedUp: Bool { work >= Self.turn }
    }
#endif
