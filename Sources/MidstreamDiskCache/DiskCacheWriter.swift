internal import Foundation
internal import Interception
internal import MidstreamCache
internal import MidstreamCore
internal import Platform

/// Writes the body of one entry. A new one that grows beyond a few bytes, or isn't whole, is a file under a name of its own, which becomes that of
/// the entry just before its row is there: whoever dies in between leaves a file that nothing belongs to.
final class DiskCacheWriter: CacheWriter {
    private struct State {
        var bytes: [UInt8] = []
        var written: Int64 = 0
        var file: BodyFile?
        var temporary: String?
    }

    /// Up to how many bytes a body is a part of its row.
    private static let rowBytes = 16 << 10
    private let store: DiskCacheStore
    private let folder: CacheFolder
    private let offset: Int64
    private let isExtending: Bool
    private let state: Locked<State>

    init(_ store: DiskCacheStore, _ folder: CacheFolder, extending id: UInt64?, _ offset: Int64) throws {
        self.store = store
        self.folder = folder
        self.offset = offset
        isExtending = id != nil
        var state = State()
        if let id { state.file = try BodyFile(folder.body(id), isNew: false) }
        self.state = Locked(state)
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) async throws {
        try state.withLock { state in
            if let file = state.file {
                try file.write(bytes, at: offset + state.written)
            } else {
                state.bytes += bytes
                if state.bytes.count > Self.rowBytes { try spill(&state) }
            }
            state.written += Int64(bytes.count)
        }
    }

    /// Goes on in a file.
    private func spill(_ state: inout State) throws {
        let path = folder.temporary()
        let file = try BodyFile(path, isNew: true)
        state.temporary = path
        state.file = file
        try file.write(state.bytes, at: offset)
        state.bytes = []
    }

    func commit(_ entry: CacheEntry) async throws {
        let (bytes, end, temporary) = try state.withLock { state in
            if state.file == nil, !(offset == 0 && entry.isWhole && Int64(state.bytes.count) == entry.length) {
                try spill(&state)
            }
            let end = offset + state.written
            defer { (state.file, state.bytes) = (nil, []) }
            return (state.file == nil ? state.bytes : nil, end, state.temporary)
        }
        let folder = folder
        if isExtending {
            guard try await store.perform({ try $0.extend(entry, file: end) }) else { throw DiskCacheStore.MissingBytes() }
        } else {
            var entry = entry
            // What was there before is in no file.
            if bytes == nil { entry = entry.holding(offset..<end) }
            let stored = entry
            try await store.perform { table in
                if let temporary, rename(temporary, folder.body(stored.id)) != 0 { throw FileError(errno) }
                do {
                    try table.insert(stored, body: bytes, file: bytes == nil ? end : 0)
                } catch {
                    if temporary != nil { unlink(folder.body(stored.id)) }
                    throw error
                }
            }
            state.withLock { $0.temporary = nil }
        }
        store.hasGrown()
    }

    func abandon() async { discard() }

    private func discard() {
        let temporary = state.withLock { state in
            defer { (state.file, state.temporary, state.bytes) = (nil, nil, []) }
            return state.temporary
        }
        if let temporary { unlink(temporary) }
    }
}
