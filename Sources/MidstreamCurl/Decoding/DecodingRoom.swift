#if Curl && os(Linux)
    /// The memory and the time that a loop gives to decoding, and to bodies in general.
    ///
    /// Touched only on the loop's thread.
    final class DecodingRoom {
        /// What one step of a decoder fills.
        private static let step = 64 << 10
        /// How many bytes are decoded between two looks at the sockets: a few milliseconds' work. A piece of 16 KiB can become 16 MiB.
        private static let turn = 1 << 20
        /// How many pieces of bodies that aren't encoded are taken between two looks at the sockets: as few as a byte each, but curl needs
        /// time for each of them.
        private static let pieces = 4_096

        /// How many bytes have gone into decoders and out of them since the last look at the sockets.
        var work = 0 { didSet { most = max(most, work) } }
        /// The bodies that came in vain in the last turn, and those that did in this one.
        private var waiting: (first: Set<ObjectIdentifier>, next: Set<ObjectIdentifier>) = ([], [])
        /// The most there was: what the tests look at.
        private(set) var most = 0
        /// How many pieces have been taken since the last look at the sockets, and the most there were.
        private var pieceCount = 0
        private(set) var mostPieces = 0
        /// Where decoders put what they make.
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)

        deinit { space.deallocate() }

        func beginTurn() {
            work = 0
            pieceCount = 0
            // Who was to be first and didn't come has been given up.
            waiting = (waiting.next, [])
        }

        /// Whether it is this one's turn: it isn't as long as there are others that had none in the last. One large body would otherwise
        /// take all the time in each turn, since it is always the first to go on.
        func admits(_ body: AnyObject) -> Bool {
            let isFirst = waiting.first.remove(ObjectIdentifier(body)) != nil
            if !isUsedUp, isFirst || waiting.first.isEmpty { return true }
            waiting.next.insert(ObjectIdentifier(body))
            return false
        }

        /// Whether there is time for another piece in this turn.
        func takesPiece() -> Bool {
            guard pieceCount < Self.pieces else { return false }
            pieceCount += 1
            mostPieces = max(mostPieces, pieceCount)
            return true
        }

        /// Whether another step has to wait for the next turn.
        var isUsedUp: Bool { work >= Self.turn }
    }
#endif
