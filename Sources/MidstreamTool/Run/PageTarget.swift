import Foundation

/// Where a page about an archive goes: to a file, or by `-` to standard output.
struct PageTarget {
    let path: String

    /// - Throws: `UsageError` where the page would take the archive's place.
    init(_ path: String, of archive: String) throws {
        guard path == "-" || !Self.isSame(path, archive) else {
            throw UsageError("the page would replace the archive: -o says where it goes")
        }
        self.path = path
    }

    var isStandardOutput: Bool { path == "-" }

    func write(_ page: String) throws {
        if isStandardOutput { return try Terminal.print(page) }
        guard Terminal.isReplaceable(path) else {
            let output = try Terminal.descriptor(path)
            try Terminal.put(Array(page.utf8), into: output)
            if close(output) != 0 { throw OutputFailure(code: errno) }
            return
        }
        // It shows what is in the archive, or what that tells, and the archive is its owner's alone. Whoever may read the page that it
        // replaces may read this one.
        var old = stat()
        let mode = stat(path, &old) == 0 ? old.st_mode & 0o777 : 0o600
        try Terminal.replace(URL(fileURLWithPath: path), by: Array(page.utf8), mode: mode)
    }

    /// Whether two paths lead to one file, by links as well.
    private static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(path, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
