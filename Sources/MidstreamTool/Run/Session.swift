import Foundation
import Midstream

/// Cookies that are kept from run to run.
struct Session {
    private let file: URL
    let jar: CookieJar

    /// - Parameter name: Of a file in the user's state folder; a name with a slash is a path.
    init(_ name: String) throws {
        guard !name.isEmpty, !name.hasPrefix(".") || name.contains("/") else { throw UsageError("--session needs a name") }
        file = name.contains("/") ? URL(fileURLWithPath: name) : Self.folder.appendingPathComponent("\(name).json")
        guard FileManager.default.fileExists(atPath: file.path) else {
            jar = CookieJar()
            return
        }
        guard let data = try? Data(contentsOf: file), let cookies = try? JSONDecoder().decode([Cookie].self, from: data) else {
            throw UsageError("'\(file.path)' isn't a session")
        }
        jar = CookieJar(cookies)
    }

    private static var folder: URL {
        let environment = ProcessInfo.processInfo.environment
        let state = environment["XDG_STATE_HOME"] ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state"
        return URL(fileURLWithPath: state).appendingPathComponent("midst/sessions")
    }

    /// Writes the cookies, those without an end as well, to a file for its owner alone, which is there as a whole or as it was.
    ///
    /// - Parameter make: Makes a new file at a path, and returns its descriptor.
    func save(making make: (String) -> Int32 = Self.makeFile) throws {
        let cookies = jar.snapshot(includingSessionCookies: true)
        let files = FileManager.default
        guard !cookies.isEmpty || files.fileExists(atPath: file.path) else { return }
        let (folder, failure) = (file.deletingLastPathComponent(), RunFailure("can't write the session '\(file.path)'"))
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        guard (try? files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)) != nil else {
            throw failure
        }
        let beside = folder.appendingPathComponent(".\(UUID().uuidString)").path
        let content = Array(try JSONEncoder().encode(cookies))
        let descriptor = make(beside)
        guard descriptor >= 0 else { throw failure }
        let isWritten = (try? Terminal.put(content, into: descriptor)) != nil && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(beside, file.path) == 0 else {
            unlink(beside)
            throw failure
        }
    }

    /// Makes a file that is its owner's alone from its first moment, also where a run that is killed leaves it.
    static func makeFile(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
}
