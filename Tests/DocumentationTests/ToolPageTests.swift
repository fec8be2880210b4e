import Foundation
import Testing

@testable import MidstreamTool

@Suite("Midst.md")
struct ToolPageTests {
    private let page = MarkdownPage(path: "Documentation/Midst.md")

    @Test("shows what --help prints")
    func help() throws {
        try page.expectBlock(printing: Arguments.help)
    }

    @Test("has all options in its table, and no other")
    func options() throws {
        #expect(try page.table(below: "Options") == Option.all.flatMap(\.names))
    }

    @Test("names only options that are understood", arguments: ["get", "post"])
    func examples(method: String) throws {
        for block in try page.blocks() where block.language == "sh" {
            for line in block.lines where line.hasPrefix("midst \(method)") {
                let words = line.dropFirst("midst ".count).matches(of: /'([^']*)'|(\S+)/).map { String($0.1 ?? $0.2 ?? "") }
                // A file that an example names isn't there.
                let known = words.map { $0.hasSuffix(".pem") ? #filePath : $0 }
                #expect(throws: Never.self) { try Arguments(known) }
            }
        }
    }
}
