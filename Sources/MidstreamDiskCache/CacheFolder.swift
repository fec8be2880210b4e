internal import Foundation
internal import MidstreamCore
internal import MidstreamPlatform

/// The files of a cache on disk: a database, and a file for each body that is too large for it. Only its user may read them.
struct CacheFolder: Sendable {
    let path: String
    /// Made once, since each query looks whether it is still the same file.
    let database: String

    init(path: String) {
        self.path = path
        database = "\(path)/cache.sqlite"
    }

    private var bodies: String { "\(path)/bodies" }

    func body(_ id: UInt64) -> String { "\(bodies)/\(String(id, radix: 16))" }
    /// A name that nobody else has.
    func temporary() -> String { "\(bodies)/\(String(UInt64.random(in: .min ... .max), radix: 16)).part" }

    /// Makes what isn't there yet.
    func prepare() throws {
        for folder in [path, bodies] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // SQLite would make a file that all may read, and gives its log the rights of the file. One that is there isn't opened: closing it
        // would release the locks that this process holds on it by other connections (POSIX).
        guard !FileManager.default.fileExists(atPath: database) else { return }
        do {
            close(try Self.open(database, O_RDWR | O_CREAT | O_EXCL))
        } catch let error as FileError where error.code == EEXIST {}
    }

    /// The database that is there just now; nil: there is none.
    var currentDatabase: FileIdentity? { FileIdentity(database) }

    /// Puts a damaged database aside, beside the new one, unless another process has done so. One that was put there before is thrown away;
    /// bodies are swept in time.
    func putAside(_ damaged: FileIdentity?) {
        guard let damaged, damaged == currentDatabase else { return }
        for suffix in ["", "-wal", "-shm"] { rename(database + suffix, database + suffix + ".damaged") }
    }

    /// Throws away the database that was put aside.
    func removeDamaged() { for suffix in ["", "-wal", "-shm"] { unlink(database + suffix + ".damaged") } }

    /// The names of what is among the bodies.
    var bodyNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: bodies)) ?? [] }

    /// Those of these files of bodies that haven't changed for some seconds. Foreign ones aren't among them.
    func old(_ names: some Sequence<String>, now: Date, seconds: Double) -> [String] {
        names.filter { name in
            guard UInt64(name.hasSuffix(".part") ? String(name.dropLast(5)) : name, radix: 16) != nil,
                let changed = try? FileManager.default.attributesOfItem(atPath: "\(bodies)/\(name)")[.modificationDate] as? Date
            else { return false }
            return now.timeIntervalSince(changed) >= seconds
        }
    }

    /// Removes those of these files of bodies that belong to nothing.
    func sweep(_ names: [String], belongs: (UInt64) -> Bool) {
        for name in names {
            if let id = UInt64(name, radix: 16), belongs(id) { continue }
            unlink("\(bodies)/\(name)")
        }
    }

    /// Does something unless another process, or another store of this one, is doing it.
    func alone(_ work: () -> Void) {
        guard let descriptor = try? Self.open("\(path)/checkpoint.lock", O_RDWR | O_CREAT) else { return }
        // The lock goes with it.
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { work() }
    }

    /// Opens a file that only its user may read. Doesn't wait for the other end of a pipe that somebody has put in its place.
    static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = MidstreamPlatform.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw FileError(code: errno) }
        return descriptor
    }
}

/// Which file it is, whatever it is called by now.
struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: Nil when there is none of this name.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// What the system says went wrong with a file.
struct FileError: Error { let code: Int32 }

/// A file that bytes are written to at any place.
final class BodyFile: Sendable {
    private let descriptor: Int32

    init(_ path: String, isNew: Bool) throws {
        descriptor = try CacheFolder.open(path, isNew ? O_RDWR | O_CREAT | O_EXCL : O_RDWR)
        ResourceWitness.tell(of: self)
    }

    deinit { close(descriptor) }

    /// So many bytes at an offset; fewer where it ends before.
    static func read(_ descriptor: Int32, at offset: Int64, _ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let start = buffer.baseAddress.map { $0 + done }
                let read = System.read(descriptor, start, count - done, at: offset + Int64(done))
                guard read >= 0 else { throw FileError(code: errno) }
                guard read > 0 else { break }
                done += read
            }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        guard bytes.withUnsafeBytes({ System.write(descriptor, $0, at: offset) }) else { throw FileError(code: errno) }
    }
}
