internal import Interception
internal import MidstreamCore

/// What is left of a download, in pieces that workers take, and take from each other.
///
/// A piece is read from its front. Who has nothing to do takes the back half of the largest, or all of one that has come to a standstill;
/// the reader of that one finds its end nearer than before.
final class PiecePool: Sendable {
    /// A piece, by its place among those there have been.
    typealias Number = Int

    private struct Piece {
        /// The first byte that isn't there.
        var position: Int64
        var end: Int64
        var isTaken = false
        var body: HTTPBody?
        /// Whether the present reader has got any byte.
        var hasBytes = false
        /// How often its bytes have been taken over.
        var takeovers = 0
        /// Where the position was when somebody looked for a standstill, and when that was.
        var seen: (position: Int64, at: Duration)?
        var left: Int64 { end - position }
    }

    /// No piece gets smaller by being divided.
    static let least: Int64 = 2 << 20
    /// The same bytes are taken over no more often: from then on what limits the request itself has to end it.
    private static let mostTakeovers = 5

    private let pieces: Locked<[Piece]>

    init(_ ranges: [Range<Int64>]) { pieces = Locked(ranges.map { Piece(position: $0.lowerBound, end: $0.upperBound) }) }

    var isDone: Bool { pieces.withLock { $0.allSatisfy { $0.position >= $0.end } } }

    /// A piece to work on: one that nobody has, else half of the largest. Nil when none is worth dividing.
    func take() -> Number? {
        pieces.withLock { pieces in
            if let free = pieces.firstIndex(where: { !$0.isTaken && $0.position < $0.end }) {
                pieces[free].isTaken = true
                return free
            }
            guard let largest = pieces.indices.max(by: { pieces[$0].left < pieces[$1].left }),
                pieces[largest].left >= 2 * Self.least
            else { return nil }
            let middle = pieces[largest].position + pieces[largest].left / 2
            pieces.append(Piece(position: middle, end: pieces[largest].end, isTaken: true))
            pieces[largest].end = middle
            return pieces.count - 1
        }
    }

    /// All of a piece that has stood still for a time; its reader is sent home. Nil while none has.
    ///
    /// - Parameters:
    ///   - patience: How long a piece may stand still in its middle. The first byte, before which a server may have to look for it, may take
    ///     five times as long, and each takeover doubles the time: a server that is slow as a whole isn't asked again and again.
    ///   - now: By any clock.
    func takeStalled(for patience: Duration, at now: Duration) -> Number? {
        let (number, body) = pieces.withLock { pieces -> (Number?, HTTPBody?) in
            for place in pieces.indices where pieces[place].left > 0 && pieces[place].isTaken {
                let position = pieces[place].position
                guard let seen = pieces[place].seen, seen.position == position else {
                    pieces[place].seen = (position, now)
                    continue
                }
                let takeovers = pieces[place].takeovers
                guard takeovers < Self.mostTakeovers,
                    now - seen.at >= patience * ((pieces[place].hasBytes ? 1 : 5) << takeovers)
                else { continue }
                pieces.append(Piece(position: position, end: pieces[place].end, isTaken: true, takeovers: takeovers + 1))
                pieces[place].end = position
                return (pieces.count - 1, pieces[place].body)
            }
            return (nil, nil)
        }
        body?.close()
        return number
    }

    /// What is missing of a piece.
    func range(of number: Number) -> Range<Int64> {
        pieces.withLock { $0[number].position..<max($0[number].position, $0[number].end) }
    }

    /// Notes what a piece is read from; false when it isn't needed any more.
    func began(_ number: Number, _ body: HTTPBody) -> Bool {
        pieces.withLock { pieces in
            pieces[number].body = body
            return pieces[number].left > 0
        }
    }

    /// How many of the next bytes of a piece are its own, which are counted as being there.
    func advance(_ number: Number, by count: Int64) -> Int64 {
        pieces.withLock { pieces in
            let own = max(0, min(count, pieces[number].left))
            pieces[number].position += own
            if own > 0 { pieces[number].hasBytes = true }
            return own
        }
    }

    /// Whether nobody has begun to read a piece while another is being read, whose reader can go on with this one.
    func isDispensable(_ number: Number) -> Bool {
        pieces.withLock { pieces in pieces[number].body == nil && pieces.contains { $0.body != nil && $0.left > 0 } }
    }

    /// Gives a piece back that can't be read on.
    func giveBack(_ number: Number) {
        pieces.withLock { pieces in
            pieces[number].isTaken = false
            (pieces[number].body, pieces[number].hasBytes, pieces[number].seen) = (nil, false, nil)
        }
    }
}
