internal import Interception
internal import MidstreamCacheStore

/// Writes pieces as they are full, and at the end the head by which they are found.
final class FleetCacheWriter: CacheWriter {
    private struct State {
        var buffer: [UInt8] = []
        var place: Int64
        var pieces: [StoredResponse.Piece] = []
    }

    /// The body is larger than what the store keeps.
    struct TooLarge: Error {}

    private let store: FleetCacheStore
    private let number = UInt64.random(in: .min ... .max)
    private let id: UInt64
    private let keys: ResponseKeys
    private let start: Int64
    private let lookup: FleetCacheStore.Lookup
    private let life: Duration
    private let state: Locked<State>

    /// - Parameter life: How long the pieces are kept until there is a head.
    init(
        _ store: FleetCacheStore, for entry: CacheEntry, at offset: Int64, after lookup: FleetCacheStore.Lookup, life: Duration
    ) {
        self.store = store
        id = entry.id
        keys = store.core.names.responses(entry.key)
        self.lookup = lookup
        start = offset
        self.life = life
        state = Locked(State(place: offset))
    }

    func write(_ bytes: [UInt8]) async throws {
        let full = try state.withLock { state -> [(StoredResponse.Piece, [UInt8])] in
            // Servers say where a part begins: their numbers aren't added to.
            guard Int64(state.buffer.count + bytes.count) <= Int64(store.maximumBody) - state.place else { throw TooLarge() }
            state.buffer += bytes
            var full: [(StoredResponse.Piece, [UInt8])] = []
            while state.buffer.count >= FleetCacheStore.pieceLength { full.append(cut(FleetCacheStore.pieceLength, &state)) }
            return full
        }
        for (piece, content) in full { try keep(piece, content) }
    }

    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
        let rest = state.withLock { $0.buffer.isEmpty ? nil : cut($0.buffer.count, &$0) }
        if let (piece, content) = rest { try keep(piece, content) }
        let old = start == 0 ? [] : lookup.entries.first { $0.entry.id == id }?.pieces ?? []
        let pieces = old + state.withLock { $0.pieces }
        let kept = entry.holding(pieces)
        let response = StoredResponse(
            id: id, variant: store.core.names.variant(entry.variant),
            head: try store.core.key.seal(kept.encoded, for: keys.place(of: id)), pieces: pieces)
        let commit = ResponseCommit(
            keys: keys, response: response, stamps: lookup.stamps, begun: lookup.begun, life: kept.life, isWhole: kept.isWhole)
        return try await store.core.store.keep(commit, if: isCurrent).get()
    }

    /// The pieces expire by themselves.
    func abandon() async {}

    private func cut(_ count: Int, _ state: inout State) -> (StoredResponse.Piece, [UInt8]) {
        let content = Array(state.buffer.prefix(count))
        state.buffer.removeFirst(count)
        let piece = StoredResponse.Piece(
            offset: state.place, length: Int64(count), name: store.core.names.piece(number, state.place))
        state.place += Int64(count)
        state.pieces.append(piece)
        return (piece, content)
    }

    private func keep(_ piece: StoredResponse.Piece, _ content: [UInt8]) throws {
        let sealed = try store.core.key.seal(content, for: keys.place(of: piece, in: id))
        store.core.store.keepPiece(sealed, as: piece.name, life: life)
    }
}
