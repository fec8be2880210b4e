internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// Keeps responses in the fleet's store, sealed.
///
/// What isn't found whole is an error of that read, which to the cache is a miss.
struct FleetCacheStore: CacheStore {
    struct Unavailable: Error {}

    static let pieceLength = 256 << 10
    /// How long an entry may be kept after it is stale.
    static let longestStale = 7.0 * 86_400
    /// How long the bytes of a body that is arriving are kept, and what it is going to be valid by. What comes of them is prolonged.
    private static let arrivalLife = Duration.seconds(3600)

    let core: FleetCore
    let maximumBody: Int
    let removals: CacheRemovals
    /// Where the bytes are of entries that were found lately, while no more than so many removals were known of.
    private let places = Locked<(removals: Int, pieces: [UInt64: [StoredResponse.Piece]])>((0, [:]))

    /// An entry of the store, and where its bytes are.
    typealias Found = (entry: CacheEntry, pieces: [StoredResponse.Piece])
    /// The entries of a key, by what they are valid, and when another one begins.
    typealias Lookup = (entries: [Found], stamps: [String], begun: Int64)

    init(core: FleetCore, maximumBody: Int) {
        self.core = core
        self.maximumBody = maximumBody
        removals = core.names.newRemovals()
        core.near.count(in: removals)
    }

    var name: String { "fleet" }
    var boundsItsTime: Bool { true }

    func salt() async throws -> [UInt8] { core.key.salt(of: core.name) }

    func entries(for key: CacheKey) async throws -> [CacheEntry] { try await found(key).entries.map(\.entry) }

    /// What is in the store.
    ///
    /// - Parameter life: How long another one is kept that is about to come; nil: none is.
    func found(_ key: CacheKey, toKeep life: Duration? = nil) async throws -> Lookup {
        let (keys, removals) = (core.names.responses(key), core.removals)
        core.near.note(key, keys)
        // Again, since all may have been forgotten meanwhile, and something may be fetched next.
        defer { core.near.note(key, keys) }
        let found = try await core.store.responses(keys, toKeep: life).get()
        let entries = found.all.compactMap { response -> Found? in
            guard let head = core.key.open(response.head, of: keys.place(of: response.id)),
                let entry = CacheEntry(head, key: key), entry.id == response.id
            else { return nil }
            return (entry.holding(response.pieces), response.pieces)
        }
        places.withLock { places in
            if places.removals != removals || places.pieces.count > 10_000 { places = (removals, [:]) }
            for (entry, found) in entries { places.pieces[entry.id] = found }
        }
        return (entries, found.stamps, found.begun)
    }

    func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        guard let range = range ?? entry.length.map({ 0..<$0 }) else { throw Unavailable() }
        let removals = core.removals
        var known = places.withLock { $0.removals == removals ? $0.pieces[entry.id] : nil }
        // Pieces stay where they are when the entry is removed.
        if known == nil { known = try await found(entry.key).entries.first { $0.entry.id == entry.id }?.pieces }
        guard let all = known else { throw Unavailable() }
        let wanted = all.filter { $0.offset < range.upperBound && range.lowerBound < $0.offset + $0.length }
            .sorted { $0.offset < $1.offset }
        let contents = try await core.store.pieces(wanted.map(\.name)).get()
        let keys = core.names.responses(entry.key)
        var bytes: [UInt8] = []
        var place = range.lowerBound
        for (piece, sealed) in zip(wanted, contents) where piece.offset + piece.length > place {
            guard piece.offset <= place, let sealed,
                let content = core.key.open(sealed, of: keys.place(of: piece, in: entry.id)),
                content.count == Int(piece.length)
            else { throw Unavailable() }
            let end = min(range.upperBound, piece.offset + piece.length)
            bytes += content[Int(place - piece.offset)..<Int(end - piece.offset)]
            place = end
        }
        guard place == range.upperBound || range.isEmpty else { throw Unavailable() }
        return .bytes(bytes)
    }

    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        let life = min(entry.life, Self.arrivalLife)
        return try await FleetCacheWriter(self, for: entry, at: offset, after: found(entry.key, toKeep: life), life: life)
    }

    func update(_ entry: CacheEntry) async throws -> Bool {
        let keys = core.names.responses(entry.key)
        let head = try core.key.seal(entry.encoded, for: keys.place(of: entry.id))
        let isConfirmed = !entry.head.isInvalidated
        return try await core.store.update(keys, id: entry.id, head: head, life: entry.life, isConfirmed: isConfirmed).get()
    }

    func remove(_ key: CacheKey) async throws {
        removals.remove(key.url)
        try await core.remove(core.names.urls(key.url))
    }

    func removeAll(origin: String?) async throws {
        removals.removeAll(origin: origin)
        try await core.remove(origin.map(core.names.origins) ?? [core.names.everything])
    }
}

extension ResponseKeys {
    /// What the head of a response is sealed with, so that it is opened there and nowhere else.
    func place(of id: UInt64) -> String { "\(responses) \(id)" }

    /// The same of bytes.
    func place(of piece: StoredResponse.Piece, in id: UInt64) -> String { "\(place(of: id)) \(piece.offset) \(piece.name)" }
}

extension CacheEntry {
    /// With the bytes that there are.
    func holding(_ pieces: [StoredResponse.Piece]) -> CacheEntry {
        holding(StoredRanges(pieces.map { $0.offset..<($0.offset + $0.length) }))
    }

    /// How long the store keeps it: while it is of use, and a minute.
    var life: Duration { .seconds(usefulSeconds(staleAtMost: FleetCacheStore.longestStale) + 60) }
}
