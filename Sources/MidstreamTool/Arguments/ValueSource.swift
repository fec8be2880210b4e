import Foundation
import Midstream

/// What a value on the command line stands for: itself, or after `@` the content of a file, or of standard input for `@-`. Other users can
/// see arguments in the list of processes, so this is how secrets are given.
struct ValueSource {
    private let standardInput: @Sendable () throws -> Data
    private var isInputRead = false

    init(standardInput: @escaping @Sendable () throws -> Data) { self.standardInput = standardInput }

    /// The value as text; of a file without the line end at its end.
    mutating func text(_ value: String) throws -> String {
        guard value.hasPrefix("@") else { return value }
        guard let text = String(data: try content(value.dropFirst()), encoding: .utf8) else {
            throw UsageError("'\(value)' isn't text in UTF-8")
        }
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }

    /// The value as a body: a file is sent from disk, anything else is read to its end first.
    mutating func body(_ value: String) throws -> HTTPBody {
        guard value.hasPrefix("@") else { return .bytes(Array(value.utf8)) }
        let file = URL(fileURLWithPath: String(value.dropFirst())).resolvingSymlinksInPath()
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        let isRegular = value != "@-" && attributes?[.type] as? FileAttributeType == .typeRegular
        return isRegular && FileManager.default.isReadableFile(atPath: file.path)
            ? .file(file) : .data(try content(value.dropFirst()))
    }

    private mutating func content(_ path: Substring) throws -> Data {
        guard path == "-" else {
            guard let file = FileHandle(forReadingAtPath: String(path)), let content = try? file.readToEnd() ?? Data() else {
                throw UsageError("can't read the file '\(path)'")
            }
            return content
        }
        guard !isInputRead else { throw UsageError("@- is for one value: standard input can be read once") }
        isInputRead = true
        return try standardInput()
    }
}
