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
    func save(making make: (String) -> Int32 = Terminal.makeFile) throws {
        let cookies = jar.snapshot(includingSessionCookies: true)
        let files = FileManager.default
        guard !cookies.isEmpty || files.fileExists(atPath: file.path) else { return }
        let folder = file.deletingLastPathComponent()
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        guard (try? files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)) != nil else {
            throw RunFailure("can't write the session '\(file.path)'")
        }
        try Terminal.replace(file, by: Array(JSONEncoder().encode(cookies)), making: make)
    }
}
