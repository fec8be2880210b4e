internal import Foundation
internal import Interception
internal import MidstreamCache
internal import MidstreamCore
internal import Platform

/// Writes the body of one entry. A new one that grows beyond a few bytes, or isn't whole, is a file under a name of its own, which becomes that of
/// the entry just before its row is there: whoever dies in between leaves a file that nothing belongs to.
///
/// What belongs into a file is written by another thread while more of it arrives; who brings more waits for it when it is a mebibyte behind.
final class DiskCacheWriter: CacheWriter {
    private struct State {
        var bytes: [UInt8] = []
        /// How many have come.
        var received: Int64 = 0
        var file: BodyFile?
        var temporary: String?
        /// What is still to be written, and at which place of the file.
        var pending: [[UInt8]] = []
        var pendingBytes = 0
        var place: Int64
        /// Of what has been written; nil while that is done.
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

    /// Up to how many bytes a body is a part of its row.
    private static let rowBytes = 16 << 10
    /// How many bytes may be still to be written.
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
                // Most bodies of one row come in one piece.
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

    /// Goes on in a file. What has come until now is written here, since it may be all.
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

    /// Writes what has come until now, and then lets others have their turn.
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
            // One that was removed has no row.
            isStored = try await store.perform { try $0.extend(entry, by: run) }
        } else {
            // What was there before is in no file.
            let run = run ?? BodySums.Run(start: offset, end: offset)
            let stored = entry.holding(run.start..<run.end)
            isStored = try await store.perform { [folder] table in
                if let temporary, rename(temporary, folder.body(stored.id)) != 0 { throw FileError(errno) }
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
