import Foundation
import Testing

/// The files of this package.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The paths of all files with an extension below a folder, relative to the root.
    static func files(below folder: String, withExtension suffix: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".\(suffix)") && !$0.hasPrefix(".build/") }
            .map { "\(folder)/\($0)" }.sorted()
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    static func lines(of path: String) throws -> [String] {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8).components(separatedBy: "\n")
    }
}

/// A page of the documentation.
struct MarkdownPage: Sendable, CustomTestStringConvertible {
    /// A fenced block.
    struct Block: Sendable {
        let language: String
        let lines: [String]
        /// The line of the page at which it begins, from 1.
        let number: Int
    }

    /// Relative to the root of the package.
    let path: String
    var testDescription: String { path }

    static let all = (["README.md"] + Repository.files(below: "Documentation", withExtension: "md")).map(MarkdownPage.init)

    func lines() throws -> [String] { try Repository.lines(of: path) }

    func blocks() throws -> [Block] {
        var blocks: [Block] = []
        var open: (language: String, lines: [String], number: Int)?
        for (index, line) in try lines().enumerated() {
            guard line.hasPrefix("```") else {
                open?.lines.append(line)
                continue
            }
            if let (language, lines, number) = open {
                blocks.append(Block(language: language, lines: lines, number: number))
                open = nil
            } else {
                open = (String(line.dropFirst(3)), [], index + 1)
            }
        }
        return blocks
    }

    /// The targets of the page's links to other files of the package, relative to its root.
    func linkedFiles() throws -> [String] {
        let folder = (path as NSString).deletingLastPathComponent
        return try lines().joined(separator: "\n").matches(of: /\]\(([^)#]+)(?:#[^)]*)?\)/).map { String($0.1) }
            .filter { !$0.contains("://") }
            .map { URL(fileURLWithPath: "/\(folder)/\($0)").standardizedFileURL.path }.map { String($0.dropFirst()) }
    }

    /// Checks that a block of the page is what a program prints, but for its times, identifiers and ports.
    func expectBlock(printing text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let printed = Self.normalized(text.components(separatedBy: "\n"))
        let blocks = try blocks().filter { $0.language == "text" }.map { Self.normalized($0.lines) }
        #expect(blocks.contains(printed), "\(path) shows no such output:\n\(text)", sourceLocation: sourceLocation)
    }

    private static func normalized(_ lines: [String]) -> [String] {
        lines.map { line in
            line.replacing(/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/, with: "ID")
                .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:PORT")
                .replacing(#/[ ]+\d+\.\d{3} +\d+\.\d{3} {2}/#, with: "TIMES ")
        }
    }
}

/// Lines without the indentation that they have in common, and without spaces at their ends.
func dedented(_ lines: some Sequence<String>) -> [String] {
    let blank: (String) -> Bool = { $0.allSatisfy(\.isWhitespace) }
    let depth = lines.filter { !blank($0) }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { blank($0) ? "" : String($0.dropFirst(depth)) }
}
