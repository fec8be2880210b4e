internal import Foundation
internal import Interception
public import MidstreamCore
internal import MidstreamPlatform

extension HTTPError.Code {
    /// Another download writes to the same file.
    public static let fileInUse = Self(rawValue: "fileInUse")
}

extension HTTPError {
    /// ``HTTPError/Code/fileInUse``
    public static var fileInUse: Code { .fileInUse }
}

/// A file beside a target that takes the target's place when it is complete. Until then it can be found and continued by a later process,
/// with a record of its state; both can be read by their owner alone.
///
/// Nobody else writes to it while this is held: it is locked, and so is the record by it. On a disk without locks the newest has the name,
/// and the others find that when they complete. Writes happen in the tasks that have the bytes: they go to the page cache, and a hop to another thread
/// costs more.
final class PartFile: Sendable {
    private let target: String
    private let path: String
    private let recordPath: String
    private let descriptor: Int32
    /// The permissions that the process gives to new files.
    private let modeOfNewFiles: mode_t
    /// Held by who writes the record.
    private let recording = Locked(())

    /// Opens the file, or makes it.
    ///
    /// - Throws: ``HTTPError/Code/fileUnwritable`` when the target is there and no regular file, or can't be written beside,
    ///   ``HTTPError/Code/fileInUse`` when another download has it locked.
    init(replacing file: URL) throws {
        guard file.isFileURL else {
            throw HTTPError(.fileUnwritable, "\(URLText.redacted(file.absoluteString)) is no file URL.", phase: .notSent)
        }
        target = file.path
        _ = try Self.mode(ofReplaced: target, phase: .notSent)
        let name = Self.shortened(file.lastPathComponent)
        path = file.deletingLastPathComponent().appendingPathComponent(".\(name).midstream-part").path
        recordPath = path + ".json"
        descriptor = try Self.open(path, for: file.path)
        // At the end of a long download there may be no descriptor to find it out by.
        guard let mode = Self.modeOfNewFiles(recordPath + ".new") else {
            let failure = Self.failure("make a file beside", target, phase: .notSent)
            flock(descriptor, LOCK_UN)
            MidstreamPlatform.close(descriptor)
            throw failure
        }
        modeOfNewFiles = mode
        ResourceWitness.tell(of: self)
    }

    deinit {
        unlock()
        MidstreamPlatform.close(descriptor)
    }

    /// Lets another download write to it. Closing isn't enough where a process that is being started has the descriptor, too.
    func unlock() { flock(descriptor, LOCK_UN) }

    // MARK: The bytes

    var size: Int64 { Self.status(of: descriptor).map { Int64($0.st_size) } ?? 0 }

    /// Writes bytes at an offset, concurrently with writes to other places.
    func write(_ bytes: [UInt8], at offset: Int64) throws {
        guard bytes.withUnsafeBytes({ System.write(descriptor, $0, at: offset) }) else { throw failure("write") }
    }

    /// Empties the file. The record goes first: left by a process that is killed later, it would stand for the bytes that come now.
    func clear() throws {
        try checkName()
        try removeRecord()
        guard ftruncate(descriptor, 0) == 0 else { throw failure("shorten") }
    }

    /// Checks whether the disk has room for so many bytes in all. On Apple's platforms only writing shows that.
    ///
    /// - Throws: ``HTTPError/Code/fileUnwritable`` when there isn't; nothing has been written then.
    func checkRoom(for total: Int64) throws {
        #if os(Linux)
            var disk = statvfs()
            // One without blocks tells no size, as of a file system in memory that has no limit.
            guard fstatvfs(descriptor, &disk) == 0, disk.f_blocks > 0, let status = Self.status(of: descriptor) else { return }
            // What has been written takes its room already.
            let missing = total - min(total, Int64(status.st_blocks) * 512)
            let (free, isMore) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
            guard !isMore, missing > 0, UInt64(missing) > free else { return }
            throw HTTPError(
                .fileUnwritable, "\(target) needs \(missing) more bytes, and \(free) are free on its disk.", phase: .answered)
        #endif
    }

    /// The digest of the first bytes.
    func digest(_ algorithm: DigestAlgorithm, upTo total: Int64) throws -> [UInt8] {
        let running = try Hashing(algorithm.function)
        var offset: Int64 = 0
        while offset < total {
            try Task.checkCancellation()
            var result = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: Int(min(256 << 10, total - offset))) { buffer, count in
                result = System.read(descriptor, buffer.baseAddress, buffer.count, at: offset)
                count = max(0, result)
            }
            guard result > 0 else { throw failure("read") }
            try running.update(chunk)
            offset += Int64(chunk.count)
        }
        return try running.finish()
    }

    // MARK: The record

    /// The most bytes of a record that are read.
    static let largestRecord = 64 << 10

    /// What an earlier download has left; nil when there is nothing that can be used.
    func readRecord() -> PartRecord? {
        // A link could lead to what somebody else wants to have read, and a pipe would be waited for.
        let opened = MidstreamPlatform.open(recordPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard opened >= 0 else { return nil }
        defer { MidstreamPlatform.close(opened) }
        var bytes = [UInt8](repeating: 0, count: Self.largestRecord)
        let count = MidstreamPlatform.read(opened, &bytes, bytes.count)
        return count > 0 ? try? JSONDecoder().decode(PartRecord.self, from: Data(bytes[..<count])) : nil
    }

    /// Writes the record in place of the old one; for nil there is none any more. May be called concurrently.
    ///
    /// - Parameter record: Evaluated when it is its turn, so that the newest is written last.
    /// - Throws: ``HTTPError/Code/fileUnwritable``, also when the name is another download's file by now.
    func write(_ record: @autoclosure () -> PartRecord?) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try recording.withLock { _ in
            try checkName()
            if let newest = record() { try replaceRecord(by: encoder.encode(newest)) } else { try removeRecord() }
        }
    }

    private func removeRecord() throws {
        guard unlink(recordPath) == 0 || errno == ENOENT else { throw failure("remove the record of") }
    }

    private func replaceRecord(by data: Data) throws {
        let temporary = recordPath + ".new"
        unlink(temporary)
        let opened = MidstreamPlatform.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw failure("write the record of") }
        let isWritten = data.withUnsafeBytes { System.write(opened, $0, at: 0) }
        let problem = errno
        MidstreamPlatform.close(opened)
        guard isWritten, rename(temporary, recordPath) == 0 else {
            if !isWritten { errno = problem }
            let failure = failure("write the record of")
            unlink(temporary)
            throw failure
        }
    }

    // MARK: The end

    /// Moves the file to its target.
    ///
    /// - Parameter isSynchronized: Whether the bytes, and then the name, have to be on the disk first.
    /// - Throws: ``HTTPError/Code/fileUnwritable``, also when the name is another download's file by now.
    func complete(isSynchronized: Bool) throws {
        try checkName()
        // Again, since it may have been made meanwhile.
        fchmod(descriptor, try Self.mode(ofReplaced: target, phase: .answered) ?? modeOfNewFiles)
        if isSynchronized, !Self.synchronize(descriptor) { throw failure("write") }
        try checkName()
        guard rename(path, target) == 0 else { throw failure("replace") }
        unlink(recordPath)
        guard isSynchronized else { return }
        let folder = MidstreamPlatform.open((target as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = Self.synchronize(folder)
        MidstreamPlatform.close(folder)
    }

    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // Otherwise it may stay in the disk's own memory, which forgets. Not every file system has this.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// The permissions of a new file are those that the process has been given, which no call tells without changing them. Nil when none can
    /// be made.
    private static func modeOfNewFiles(_ probe: String) -> mode_t? {
        unlink(probe)
        let made = MidstreamPlatform.open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard made >= 0 else { return nil }
        defer {
            MidstreamPlatform.close(made)
            unlink(probe)
        }
        return status(of: made).map { $0.st_mode & 0o777 }
    }

    /// Forgets what there is. A locked file stays with its holder.
    func discard() {
        guard !isReplaced else { return }
        unlink(recordPath)
        unlink(path)
    }

    /// Whether the name is another file's by now: this one was removed, and somebody else has begun.
    private var isReplaced: Bool { Self.isNamed(descriptor, path) == false }

    private func checkName() throws {
        guard isReplaced else { return }
        throw HTTPError(.fileUnwritable, "The file beside \(target) is another download's by now.", phase: .answered)
    }

    private func failure(_ what: String) -> HTTPError { Self.failure(what, target, phase: .answered) }

    private static func failure(_ what: String, _ path: String, phase: HTTPError.Phase) -> HTTPError {
        HTTPError(.fileUnwritable, "Can't \(what) \(path): \(String(cString: strerror(errno))).", phase: phase)
    }
}

extension PartFile {
    /// A file that has this name, locked where its disk has locks.
    private static func open(_ path: String, for target: String) throws -> Int32 {
        for _ in 0..<mostOpenings {
            let opened = MidstreamPlatform.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard opened >= 0 else { throw failure("make a file beside", target, phase: .notSent) }
            if flock(opened, LOCK_EX | LOCK_NB) == 0 {
                // Whoever had it may have moved it to its target meanwhile: then it isn't the file of this name any more.
                let isNamed = isNamed(opened, path)
                if isNamed == true { return opened }
                let problem = errno
                MidstreamPlatform.close(opened)
                guard isNamed == false || problem == ENOENT else {
                    errno = problem
                    throw failure("look at the file beside", target, phase: .notSent)
                }
            } else {
                let problem = errno
                MidstreamPlatform.close(opened)
                switch problem {
                case EINTR: break
                case EWOULDBLOCK: throw inUse(target)
                case ENOSYS, EOPNOTSUPP, ENOLCK: return try makeUnlocked(path, for: target)
                default:
                    errno = problem
                    throw failure("lock the file beside", target, phase: .notSent)
                }
            }
        }
        throw inUse(target)
    }

    /// On a disk that numbers a file differently each time, none would ever be the one of the name.
    private static let mostOpenings = 100

    /// A new file of this name, on a disk without locks, as some behind a network. Whoever still writes to the one that had the name finds
    /// it to be another's; what that one holds can't be gone on with, since nothing tells whether it is written to.
    private static func makeUnlocked(_ path: String, for target: String) throws -> Int32 {
        unlink(path + ".json")
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("replace the file beside", target, phase: .notSent) }
        let made = MidstreamPlatform.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard made >= 0 else {
            throw errno == EEXIST ? inUse(target) : failure("make a file beside", target, phase: .notSent)
        }
        return made
    }

    private static func inUse(_ target: String) -> HTTPError {
        HTTPError(.fileInUse, "Another download writes to \(target).", phase: .notSent)
    }

    /// Whether a name is an open file's; nil: it is no file's.
    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool? {
        var named = stat()
        guard let held = status(of: descriptor), lstat(path, &named) == 0 else { return nil }
        return held.st_ino == named.st_ino && held.st_dev == named.st_dev
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// The permissions of the file that is replaced; nil when there is none.
    ///
    /// - Throws: ``HTTPError/Code/fileUnwritable`` for anything but a regular file: devices and pipes are there to be written to, and what a
    ///   link leads to has another name.
    private static func mode(ofReplaced path: String, phase: HTTPError.Phase) throws -> mode_t? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status.st_mode & 0o777
        case S_IFDIR:
            throw HTTPError(.fileUnwritable, "\(path) is a folder; the name of a file in it is needed.", phase: phase)
        default: throw HTTPError(.fileUnwritable, "\(path) is no regular file, and is left as it is.", phase: phase)
        }
    }

    /// A name that leaves room for what is added to it within the 255 bytes that a name may have: of a longer one, its beginning and a hash
    /// (FNV-1a), which is the same in each process.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > 230 else { return name }
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        var beginning = name[...]
        while beginning.utf8.count > 210 { beginning = beginning.dropLast() }
        return "\(beginning)-\(String(hash, radix: 16))"
    }
}
