import Foundation
import Midstream

/// Cookies that are kept from run to run.
struct Session {
    private let file: URL
    /// The jar's cookies as they were when the file was read or written last.
    private let saved: Locked<Set<Cookie>>
    let jar: CookieJar

    /// - Parameter name: Of a file in the user's state folder; a name with a slash is a path.
    init(_ name: String) throws {
        guard !name.isEmpty, !name.hasPrefix(".") || name.contains("/") else { throw UsageError("--session needs a name") }
        file = name.contains("/") ? URL(fileURLWithPath: name) : Self.folder.appendingPathComponent("\(name).json")
        guard let cookies = try Self.cookies(in: file) else { throw UsageError("'\(file.path)' isn't a session") }
        (jar, saved) = (CookieJar(cookies), Locked(Set(cookies)))
    }

    /// What stands in a file, nothing where there is none; nil: it is no session.
    private static func cookies(in file: URL) throws -> [Cookie]? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            // Taken for none, it would be written over.
            throw RunFailure("can't read the session '\(file.path)': \(String(cString: strerror(errno)))")
        }
        let content = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd()
        return content.flatMap { try? JSONDecoder().decode([Cookie].self, from: $0) }
    }

    private static var folder: URL {
        let environment = ProcessInfo.processInfo.environment
        // Any other than an absolute path counts as none (XDG Base Directory Specification): it would lie wherever a run begins.
        let given = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let state = given ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state"
        return URL(fileURLWithPath: state).appendingPathComponent("midst/sessions")
    }

    /// Writes the cookies, those without an end as well, to a file for its owner alone, which is there as a whole or as it was. What other
    /// runs have changed meanwhile stays.
    ///
    /// - Parameter make: Makes a new file at a path, and returns its descriptor.
    func save(making make: (String) -> Int32 = Terminal.makeFile) throws {
        let (cookies, files) = (jar.cookies, FileManager.default)
        guard !cookies.isEmpty || files.fileExists(atPath: file.path) else { return }
        let (folder, failure) = (file.deletingLastPathComponent(), RunFailure("can't write the session '\(file.path)'"))
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        guard (try? files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)) != nil else {
            throw failure
        }
        // Of runs at once the others wait. It stays, since they have it open; where there can't be one, nobody waits.
        let lock = folder.appendingPathComponent(".\(file.lastPathComponent).lock").path
        let locked = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(locked) }
        var isAlone = false
        repeat { isAlone = flock(locked, LOCK_EX) == 0 } while !isAlone && errno == EINTR
        guard let merged = try merged(cookies) else { throw failure }
        // Always the same while it is alone, so that the next run finds what one that is killed leaves.
        let name = isAlone ? ".\(file.lastPathComponent).new" : nil
        if let name { unlink(folder.appendingPathComponent(name).path) }
        try Terminal.replace(file, by: Array(JSONEncoder().encode(merged)), beside: name, making: make)
        saved.withLock { $0 = Set(cookies) }
    }

    /// What stands in the file by now, with what has changed here; nil: it is no session any more.
    private func merged(_ cookies: [Cookie]) throws -> [Cookie]? {
        guard let known = try Self.cookies(in: file) else { return nil }
        let (merged, saved) = (CookieJar(known), saved.withLock { $0 })
        for cookie in cookies where !saved.contains(cookie) { merged.set(cookie) }
        // One that has another value by now stays.
        for cookie in saved.subtracting(cookies) { merged.remove(cookie) }
        return merged.cookies
    }
}
