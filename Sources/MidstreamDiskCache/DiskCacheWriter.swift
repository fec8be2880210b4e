internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamPlatform

/// Writes the body of one entry. A small whole body becomes part of the entry's row. Any other goes into a file with a temporary name, which is
/// renamed just before the row is inserted: a crash in between leaves a file without a row.
///
/// Files are written by another thread while more arrives. `write` waits when that thread is a mebibyte behind.
final class DiskCacheWriter: CacheWriter {
    private struct State {
        var bytes: [UInt8] = []
        /// Bytes received.
        var received: Int64 = 0
        var file: BodyFile?
        var temporary: String?
        /// Chunks still to be written to the file, from `place` on.
        var pending: [[UInt8]] = []
        var pendingBytes = 0
        var place: Int64
        /// Sums of the bytes written; nil while the writing thread has them.
        var sums: RunningSums?
        var isWriting = false
        var failure: (any Error)?
        /// The wait until no more than so many bytes are to be written.
        var waiter: (mostBytes: Int, wait: Suspension<Void>)?

        /// Takes out the waiter whose wait is over.
        mutating func takeWaiter() -> Suspension<Void>? {
            guard let (mostBytes, wait) = waiter, isBehind(noMoreThan: mostBytes) else { return nil }
            waiter = nil
            return wait
        }

        func isBehind(noMoreThan bytes: Int) -> Bool { failure != nil || (bytes == 0 ? !isWriting : pendingBytes <= bytes) }
    }

    /// The largest body that is stored in its row.
    private static let rowBytes = 16 << 10
    /// The most bytes that may be pending without `write` waiting.
    private static let mostPending = 1 << 20
    private let store: DiskCacheStore
    private let folder: CacheFolder
    private let offset: Int64
    private let isExtending: Bool
    private let state: Locked<State>

    init(_ store: DiskCacheStore, _ folder: CacheFolder, of id: UInt64, extends: Bool, _ offset: Int64) throws {
        self.store = store
        self.folder = folder
        self.offset = offset
        isExtending = extends
        var state = State(place: offset, sums: RunningSums(id, at: offset))
        if extends { state.file = try BodyFile(folder.body(id), isNew: false) }
        self.state = Locked(state)
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) async throws {
        let (begins, isFarBehind) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.received += Int64(bytes.count)
            if state.file == nil {
                // Most bodies that fit a row come in one chunk.
                if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
                if state.bytes.count > Self.rowBytes { try spill(&state) }
                return (false, false)
            }
            let begins = Self.enqueue(bytes, &state)
            return (begins, state.pendingBytes > Self.mostPending)
        }
        if begins { store.writes.async { self.writePending() } }
        if isFarBehind {
            await wait(untilNoMoreThan: Self.mostPending / 2)
            if let failure = state.withLock({ $0.failure }) { throw failure }
        }
    }

    /// Continues in a file. Writes the bytes so far at once, since they may be all.
    private func spill(_ state: inout State) throws {
        let path = folder.temporary()
        let file: BodyFile
        do {
            file = try BodyFile(path, isNew: true)
        } catch let error as FileError where error.code == ENOENT {
            // The store hasn't been used before.
            try folder.prepare()
            file = try BodyFile(path, isNew: true)
        }
        state.temporary = path
        state.file = file
        try file.write(state.bytes, at: offset)
        state.sums?.add(state.bytes)
        state.place = offset + Int64(state.bytes.count)
        state.bytes = []
    }

    private static func enqueue(_ bytes: [UInt8], _ state: inout State) -> Bool {
        state.pending.append(bytes)
        state.pendingBytes += bytes.count
        defer { state.isWriting = true }
        return !state.isWriting
    }

    /// Writes the pending chunks, then lets other writers have their turn.
    private func writePending() {
        var (pieces, file, place, sums) = state.withLock { state in
            defer { (state.pending, state.sums) = ([], nil) }
            return (state.pending, state.file, state.place, state.sums)
        }
        var (end, failure) = (place, nil as (any Error)?)
        do {
            for piece in pieces {
                try file?.write(piece, at: end)
                sums?.add(piece)
                end += Int64(piece.count)
            }
        } catch {
            failure = error
        }
        let (waiter, hasMore) = state.withLock { state in
            state.place = end
            state.sums = sums
            state.failure = state.failure ?? failure
            state.pendingBytes = state.failure == nil ? state.pendingBytes - Int(end - place) : 0
            if state.failure != nil { state.pending = [] }
            state.isWriting = !state.pending.isEmpty
            return (state.takeWaiter(), state.isWriting)
        }
        waiter?.resume()
        if hasMore { store.writes.async { self.writePending() } }
    }

    /// Waits even when the task is cancelled: what was written counts though its reader has left.
    private func wait(untilNoMoreThan bytes: Int) async {
        let wait = Suspension<Void>()
        let isOver = state.withLock { state in
            if state.isBehind(noMoreThan: bytes) { return true }
            state.waiter = (bytes, wait)
            return false
        }
        if !isOver { await wait.value() }
    }

    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
        if state.withLock({ $0.isWriting }) { await wait(untilNoMoreThan: 0) }
        let (bytes, run, temporary) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.file == nil, !(offset == 0 && entry.isWhole && Int64(state.bytes.count) == entry.length) {
                try spill(&state)
            }
            defer { (state.file, state.bytes) = (nil, []) }
            return (state.file == nil ? state.bytes : nil, state.sums?.finish(), state.temporary)
        }
        let isStored: Bool
        if let bytes {
            isStored = try await store.askAtOnce { try $0.insert(entry, .bytes(bytes), if: isCurrent) }
        } else if let run, isExtending {
            // A removed entry has no row.
            isStored = try await store.perform { try $0.extend(entry, by: run) }
        } else {
            // Ranges stored earlier are in another file, and don't count.
            let run = run ?? BodySums.Run(start: offset, end: offset)
            let stored = entry.holding(run.start..<run.end)
            isStored = try await store.perform { [folder] table in
                if let temporary, rename(temporary, folder.body(stored.id)) != 0 { throw FileError(code: errno) }
                var isStored = false
                defer { if !isStored, temporary != nil { unlink(folder.body(stored.id)) } }
                isStored = try table.insert(stored, .file(run), if: isCurrent)
                return isStored
            }
            state.withLock { $0.temporary = nil }
        }
        store.hasGrown()
        return isStored
    }

    func abandon() async { discard() }

    private func discard() {
        let temporary = state.withLock { state in
            defer { (state.file, state.temporary, state.bytes, state.pending) = (nil, nil, [], []) }
            return state.temporary
        }
        if let temporary { unlink(temporary) }
    }
}
