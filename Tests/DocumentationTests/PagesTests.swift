import Foundation
import Testing

/// What holds for every page of the documentation.
@Suite("Every page of the documentation")
struct PagesTests {
    @Test(
        "shows only code that is compiled and run here",
        arguments: MarkdownPage.all + [MarkdownPage(path: "Scripts/symbols/front.md")])
    func codeIsRun(page: MarkdownPage) throws {
        for block in try page.blocks() where block.language == "swift" {
            let code = dedented(block.lines)
            #expect(
                try Self.tests.get().contains { Self.stands(code, in: $0) },
                "\(page.path):\(block.number) isn't compiled by any test")
        }
    }

    @Test("shows declarations as they stand in the sources", arguments: MarkdownPage.all)
    func declarationsExist(page: MarkdownPage) throws {
        let blocks = try page.blocks().filter { $0.language == "swift-declaration" }
        if blocks.isEmpty { return }
        let sources = try Self.sources.get()
        for block in blocks {
            let wanted = block.lines.map(Self.declaration).filter { !$0.isEmpty }
            #expect(
                sources.contains { lines in
                    var rest = wanted[...]
                    for line in lines where line == rest.first { rest.removeFirst() }
                    return rest.isEmpty
                }, "\(page.path):\(block.number) isn't declared so in any source")
        }
    }

    @Test("links to files that exist", arguments: MarkdownPage.all)
    func linksLead(page: MarkdownPage) throws {
        // The README is written for the finished package.
        for file in try page.linkedFiles() where page.path != "README.md" {
            #expect(Repository.exists(file), "\(page.path) links to \(file)")
        }
    }

    @Test("is in the index")
    func indexIsComplete() throws {
        let linked = Set(try MarkdownPage(path: "Documentation/README.md").linkedFiles())
        for page in MarkdownPage.all where !["README.md", "Documentation/README.md"].contains(page.path) {
            #expect(linked.contains(page.path), "the index lacks \(page.path)")
        }
    }

    private struct SourceFile: Sendable {
        let lines: [String]
        let trimmed: [String]

        /// - Parameter showsStubs: In a test a stub stands for the network, which a reader needn't see.
        init(_ path: String, showsStubs: Bool) throws {
            lines = try Repository.lines(of: path).map {
                showsStubs ? $0 : $0.replacingOccurrences(of: ", transport: stub)", with: ")")
            }
            trimmed = lines.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static let tests = Result {
        try Repository.files(below: "Tests", withExtension: "swift").flatMap {
            [try SourceFile($0, showsStubs: true), try SourceFile($0, showsStubs: false)]
        }
    }

    /// Whether the code stands in a file, line for line, at any indentation.
    private static func stands(_ code: [String], in file: SourceFile) -> Bool {
        guard let first = code.first?.trimmingCharacters(in: .whitespaces), file.lines.count >= code.count else {
            return code.isEmpty
        }
        return (0...(file.lines.count - code.count)).contains { start in
            file.trimmed[start] == first && dedented(file.lines[start..<(start + code.count)]) == code
        }
    }

    /// Of each source its lines, read once.
    private static let sources = Result {
        try Repository.files(below: "Sources", withExtension: "swift").map { path in
            try Repository.lines(of: path).map(declaration)
        }
    }

    private static func declaration(_ line: String) -> String {
        line.trimmingCharacters(in: .whitespaces).replacing(#/^public\s+/#, with: "")
    }
}
