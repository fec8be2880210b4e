internal import Foundation

/// An archive that grows by an entry at a time. Between writes it is complete; a write that is torn leaves the entries before it whole.
/// Nobody else writes to it while this is held: it is locked.
final class HARFile {
    private let file: FileHandle
    /// Where the last entry ends.
    private var end: UInt64
    /// Where the last entry begins, with what separates it from the one before.
    private var lastStart: UInt64
    private(set) var count: Int
    /// The last entry as it was found or added.
    private(set) var last: HAREntry?
    private let limit: Int

    /// Makes a file that only its owner can read, or continues one.
    ///
    /// - Parameter limit: How large the file may become: what reads archives has to take it. There is room for what the last entry tells then.
    /// - Throws: ``HARArchive/Failure``.
    init(at path: String, isContinued: Bool, limit: Int = HARArchive.defaultLimit - 1_024) throws {
        self.limit = limit
        // Whoever comes second finds it there, and it is its owner's alone from the beginning.
        var opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if opened < 0 {
            guard errno == EEXIST else {
                throw HARArchive.Failure.file("can't make the file \(path): \(String(cString: strerror(errno)))")
            }
            guard isContinued else { throw HARArchive.Failure.fileExists(path) }
            guard try Self.size(of: path) <= HARArchive.defaultLimit else {
                throw HARArchive.Failure.tooLarge(limit: HARArchive.defaultLimit)
            }
            opened = open(path, O_RDWR | O_CLOEXEC)
            guard opened >= 0 else {
                throw HARArchive.Failure.file("can't write the file \(path): \(String(cString: strerror(errno)))")
            }
        }
        file = FileHandle(fileDescriptor: opened, closeOnDealloc: true)
        try HARArchive.lock(file, path)
        do {
            let content = try file.readToEnd() ?? Data()
            (end, lastStart, count) = (UInt64(HARFormat.beginning.count), UInt64(HARFormat.beginning.count), 0)
            if content.isEmpty {
                try file.write(contentsOf: HARFormat.beginning + HARFormat.ending)
                return
            }
            // An account would be written over; no recorder has made one.
            guard content.starts(with: HARFormat.beginning), let whole = HARFormat.wholeEntries(of: content),
                !content[whole.end...].starts(with: HARFormat.beginningOfAccount)
            else { throw HARArchive.Failure.fileExists(path) }
            (end, count) = (UInt64(whole.end), whole.entries.count)
            if count > 1 { lastStart = UInt64(whole.entries[count - 2].upperBound) }
            last = whole.entries.last.flatMap { try? JSONDecoder().decode(HAREntry.self, from: content[$0]) }
            try put(HARFormat.ending, at: end)
        } catch let failure as HARArchive.Failure {
            throw failure
        } catch {
            throw HARArchive.Failure.file("can't write the file \(path): \(cause(ofFile: error))")
        }
    }

    /// Closing isn't enough where a process that is being started has the descriptor, too.
    deinit { flock(file.fileDescriptor, LOCK_UN) }

    /// The size of a regular file.
    private static func size(of path: String) throws -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? Int else {
            throw HARArchive.Failure.fileExists(path)
        }
        return size
    }

    /// Adds an entry.
    ///
    /// - Returns: Whether it had room.
    func add(_ entry: HAREntry) throws -> Bool {
        let data = try HARFormat.encoded(entry)
        guard data.count <= limit - Int(end) else { return false }
        try write(data, behind: count, at: end)
        last = entry
        return true
    }

    /// Writes another entry in the place of the last one.
    func replaceLast(by entry: HAREntry) throws {
        guard count > 0 else { return }
        let data = try HARFormat.encoded(entry)
        try file.seek(toOffset: lastStart)
        let replaced = try file.read(upToCount: Int(end - lastStart)) ?? Data()
        try write(data, behind: count - 1, at: lastStart, over: replaced)
    }

    /// Writes an entry behind so many others.
    ///
    /// - Parameter replaced: What is there of the one in whose place it comes.
    private func write(_ entry: Data, behind others: Int, at start: UInt64, over replaced: Data = Data()) throws {
        let data = (others == 0 ? HARFormat.firstSeparator : HARFormat.separator) + entry
        do {
            try put(data + HARFormat.ending, at: start)
        } catch {
            // What was there stays whole, also on a full disk: it has its room still.
            try? put(replaced + HARFormat.ending, at: start)
            throw error
        }
        (lastStart, end, count) = (start, start + UInt64(data.count), others + 1)
    }

    private func put(_ data: Data, at place: UInt64) throws {
        try file.seek(toOffset: place)
        try file.write(contentsOf: data)
        try file.truncate(atOffset: place + UInt64(data.count))
    }
}
