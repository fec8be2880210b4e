@testable import MidstreamCore
import TestSupport
import Testing

/// Most URLs take a path on which nothing is cut or copied. It must never see a URL otherwise than the thorough one does.
@Suite("The short way to check a URL agrees with the thorough one")
struct PlainURLTests {
    private static let pieces = [
        "http://", "https://", "HTTP://", "ftp://", "//", "/", "?", "#", "@", ":", ":80", ":0", ":65535", ":65536", ":x", "h",
        "example.com", "[::1]", "[", "]", "a", "b/c", "..", ".", "%", "%20", "%zz", " ", "ü", "\n", "\0", "&", "=", "q=1", "+",
        "~", "\"", "\\", "{", "u:p@",
    ]

    private func generated(_ random: inout SeededGenerator, startingWith starts: [String]) -> String {
        let parts = (0..<Int.random(in: 0...6, using: &random)).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
        return (starts.randomElement(using: &random) ?? "") + parts.joined()
    }

    /// The thorough way: a query that is there, but empty, rules the short one out.
    private func thorough(_ text: String, base: String?) -> String? {
        try? URLText.resolve(text, base: base, query: "")
    }

    @Test("absolute URLs", arguments: 0..<8)
    func absolute(seed: Int) {
        var random = Search.numbers(seed)
        var plain = 0
        for _ in 0..<Search.count(of: 3_000_000) {
            let text = generated(&random, startingWith: ["http://", "https://h", "http://example.com/", "https://h:8", ""])
            let short = try? URLText.resolve(text, base: nil, query: nil)
            if short != thorough(text, base: nil) { Issue.record("\(text.debugDescription)") }
            if PlainURL.isAbsolute(text) { plain += 1 }
        }
        #expect(plain > 100, "the generator makes too few URLs that need nothing done")
    }

    @Test("paths under a base", arguments: 0..<8)
    func joined(seed: Int) {
        var random = Search.numbers(seed + 100)
        var plain = 0
        for _ in 0..<Search.count(of: 3_000_000) {
            let text = generated(&random, startingWith: ["", "/", "a", "a/", "/a?", "//", "a:"])
            let base = generated(&random, startingWith: ["http://h", "https://h/", "https://h/v2", "https://h/v2/"])
            let short = try? URLText.resolve(text, base: base, query: nil)
            if short != thorough(text, base: base) { Issue.record("\(text.debugDescription) under \(base.debugDescription)") }
            if PlainURL.joined(text, to: base) != nil { plain += 1 }
        }
        #expect(plain > 20, "the generator makes too few URLs that need nothing done")
    }

    @Test("cutting a URL and putting it together gives it back", arguments: 0..<4)
    func roundTrip(seed: Int) {
        var random = Search.numbers(seed + 200)
        for _ in 0..<Search.count(of: 2_000_000) {
            let text = generated(&random, startingWith: ["http://", "", "/"])
            if URLText(text).text != text { Issue.record("\(text.debugDescription)") }
        }
    }

    @Test("what comes out of a resolution comes out of another one unchanged, and can be sent unseen", arguments: 0..<4)
    func idempotent(seed: Int) {
        var random = Search.numbers(seed + 300)
        for _ in 0..<Search.count(of: 2_000_000) {
            guard let once = thorough(generated(&random, startingWith: ["http://h/", "https://h?"]), base: nil) else { continue }
            let canBeSent = [once, URLText.withoutUserInfo(once)].allSatisfy { URLText.isRequestable($0) }
            if thorough(once, base: nil) != once || !canBeSent { Issue.record("\(once.debugDescription)") }
        }
    }
}
