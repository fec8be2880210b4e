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
    func save() throws {
        let cookies = jar.snapshot(includingSessionCookies: true)
        let files = FileManager.default
        guard !cookies.isEmpty || files.fileExists(atPath: file.path) else { return }
        let beside = file.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString)")
        try files.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard
            files.createFile(
                atPath: beside.path, contents: try JSONEncoder().encode(cookies), attributes: [.posixPermissions: 0o600]),
            rename(beside.path, file.path) == 0
        else {
            try? files.removeItem(at: beside)
            throw RunFailure("can't write the session '\(file.path)'")
        }
    }
}
