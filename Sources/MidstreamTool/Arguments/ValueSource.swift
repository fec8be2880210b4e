import Foundation
import Midstream

/// What a value on the command line stands for: itself, or after `@` the content of a file, or of standard input for `@-`. Other users can
/// see arguments in the list of processes, so this is how secrets are given.
struct ValueSource {
    private let standardInput: FileHandle
    private var isInputRead = false

    init(standardInput: FileHandle) { self.standardInput = standardInput }

    /// The path of a file, as it is.
    static func readable(_ path: String) throws -> String {
        guard access(path, R_OK) == 0 else { throw unreadable(path, errno) }
        return path
    }

    /// The value as text; of a file without the line end at its end.
    mutating func text(_ value: String) throws -> String {
        guard value.hasPrefix("@") else { return value }
        guard let text = String(data: try content(value.dropFirst()), encoding: .utf8) else {
            throw UsageError("'\(value)' isn't text in UTF-8")
        }
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }

    mutating func body(_ value: String) throws -> HTTPBody {
        guard value.hasPrefix("@") else { return .bytes(Array(value.utf8)) }
        guard value != "@-" else { return .once(InputChunks(file: try input())) }
        return try Self.content(ofFileAt: String(value.dropFirst()))
    }

    /// A file as a body. It is sent from disk; a pipe while it is read, which can't be done a second time.
    static func content(ofFileAt path: String) throws -> HTTPBody {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
        guard type == .typeRegular, FileManager.default.isReadableFile(atPath: file.path) else {
            return .once(InputChunks(file: try opened(path)))
        }
        return .file(file)
    }

    /// A file as it is, or what comes through a pipe.
    static func bytes(ofFileAt path: String) throws -> [UInt8] { [UInt8](try content(of: try opened(path), path)) }

    private mutating func content(_ path: Substring) throws -> Data {
        try Self.content(of: path == "-" ? try input() : try Self.opened(String(path)), String(path))
    }

    private static func content(of file: FileHandle, _ path: String) throws -> Data {
        guard let content = try? file.readToEnd() ?? Data() else { throw unreadable(path, EIO) }
        return content
    }

    private mutating func input() throws -> FileHandle {
        guard !isInputRead else { throw UsageError("@- is for one value: standard input can be read once") }
        isInputRead = true
        return standardInput
    }

    /// A file that is there to be read, or a pipe.
    static func opened(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { throw unreadable(path, EISDIR) }
        return file
    }

    private static func unreadable(_ path: String, _ reason: Int32) -> UsageError {
        UsageError("can't read the file '\(path)': \(String(cString: strerror(reason)))")
    }
}
