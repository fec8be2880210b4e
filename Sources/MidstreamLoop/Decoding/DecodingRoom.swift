#if os(Linux)
    /// The memory and the time that a loop gives to decoding, and to bodies in general.
    ///
    /// Touched only on the loop's thread.
    package final class DecodingRoom {
        /// The output of one step of a decoder.
        private static let step = 64 << 10
        /// How many bytes are decoded in a turn of the loop: a few milliseconds' work. A piece of 16 KiB can become 16 MiB.
        private static let turn = 1 << 20
        /// How many pieces of other bodies are taken in a turn. They may have a byte each, but each takes time.
        private static let pieces = 4_096

        /// How many bytes have gone into decoders and out of them in this turn.
        package var work = 0 { didSet { most = max(most, work) } }
        /// The bodies that were refused in the last turn, and in this one.
        private var waiting: (first: Set<ObjectIdentifier>, next: Set<ObjectIdentifier>) = ([], [])
        private var pieceCount = 0
        /// The most of each in a turn, for the tests.
        package private(set) var most = 0
        package private(set) var mostPieces = 0
        /// Decoders' output.
        package let space = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)

        package init() {}

        deinit { space.deallocate() }

        package func beginTurn() {
            work = 0
            pieceCount = 0
            // A body that was to be first and didn't come has been given up.
            waiting = (waiting.next, [])
        }

        /// Whether a body may be decoded now. Those that were refused in the last turn come first: otherwise one large body would take all of
        /// each turn, since it is always the first to go on.
        package func admits(_ body: AnyObject) -> Bool {
            let isFirst = waiting.first.remove(ObjectIdentifier(body)) != nil
            if !isUsedUp, isFirst || waiting.first.isEmpty { return true }
            waiting.next.insert(ObjectIdentifier(body))
            return false
        }

        /// Whether there is time for another piece in this turn.
        package func takesPiece() -> Bool {
            guard pieceCount < Self.pieces else { return false }
            pieceCount += 1
            mostPieces = max(mostPieces, pieceCount)
            return true
        }

        /// Whether another step has to wait for the next turn.
        package var isUsedUp: Bool { work >= Self.turn }
    }
#endif
