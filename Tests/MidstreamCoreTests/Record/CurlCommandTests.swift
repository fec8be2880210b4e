import Foundation
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("Requests as curl commands", .leavesNothing)
struct CurlCommandTests {
    private static let samples: [HTTPRequest] = [
        HTTPRequest("/"), HTTPRequest("/?a=1&b=2;c#fragment"), HTTPRequest(.head, "/x"), HTTPRequest(.delete, "/x"),
        HTTPRequest(.options, "/x"), HTTPRequest("?q"), HTTPRequest(HTTPMethod(rawValue: "get"), "/x"),
        HTTPRequest(HTTPMethod(rawValue: "PURGE"), "/x"),
        // Nothing, and nothing that says so.
        HTTPRequest(.post, "/x"), HTTPRequest(.put, "/x"), HTTPRequest(.patch, "/x"),
        HTTPRequest(.post, "/x", body: .text("")),
        // With a body, and with what curl would take for something else.
        HTTPRequest(.post, "/x", body: .bytes(Array("plain".utf8))), HTTPRequest(.get, "/x", body: .bytes(Array("plain".utf8))),
        HTTPRequest(.put, "/x", body: .text("@file")), HTTPRequest(.post, "/x", body: .form([("a b", "ü&="), ("c", "")])),
        HTTPRequest(.post, "/x", body: .text("it's \"quoted\" '\u{301}\n$HOME `ls` \\n !! ~\n")),
        HTTPRequest(.post, "/x", headers: ["Content-Type": "text/x"], body: .text("x")),
        HTTPRequest(.post, "/x", headers: ["content-type": "text/x", "Content-Length": "1"], body: .text("x")),
        HTTPRequest(.post, "/x", headers: ["Transfer-Encoding": "chunked"], body: .text("x")),
        HTTPRequest(.delete, "/x", body: .text("x")),
        HTTPRequest(.post, "/x", body: .text(String(repeating: "x", count: 1 << 16))),
        // Fields.
        HTTPRequest("/x", headers: ["A": "1", "a": "2", "Empty": "", "Quote": "it's '\u{301}", "Text": "ü; b, c"]),
        HTTPRequest("/x", headers: ["Authorization": "Bearer $t", "Cookie": "a=b; c=d", "Accept": "text/x", "User-Agent": "me"]),
        // Targets.
        HTTPRequest("/a b/ü'\u{301}?q=ü \"x\""), HTTPRequest("/{a,b}/[1-3]?c[]={}"), HTTPRequest("/a/../b/./c?../d"),
        HTTPRequest("/%2e%2e/100%?%zz"), HTTPRequest("//x//y"), HTTPRequest("/!$&'()*+,;=:@~"), HTTPRequest("/-o"),
    ]

    private static func lines(_ request: RecordedRequest) -> [String] {
        let own: [HTTPHeaders.Name] = ["User-Agent", "Accept", "Accept-Encoding", "Host"]
        return ["\(request.method) \(request.target)"]
            + request.headers.filter { !own.contains($0.name) }.map { "\($0.name.rawValue.lowercased()): \($0.value)" }.sorted()
            + [request.text]
    }

    @Test("send what the client sends", arguments: samples.indices)
    func sameAsClient(index: Int) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init() }
        var request = Self.samples[index]
        request.urlText = String(server.url().dropLast()) + request.urlText
        _ = try await testClient().send(request)
        let command = request.curlCommand(includingSecrets: true)
        let child = try await ChildProcess.run("/bin/sh", ["-c", command + " --silent --show-error --noproxy '*'"])
        #expect(child.status == .exited(0), "\(command): \(child.errorText)")
        let (sent, copied) = (try await server.takeRequest(), try await server.takeRequest())
        #expect(Self.lines(sent) == Self.lines(copied), "\(command)")
    }

    @Test("take a file, or what isn't text, from where it can be read")
    func bodies() {
        let file = HTTPRequest(.put, "http://h/", body: .file(URL(fileURLWithPath: "/tmp/it's")))
        #expect(file.curlCommand().contains(#"--data-binary '@/tmp/it'\''s' http://h/"#))
        let binary = HTTPRequest(.put, "http://h/", body: .bytes([0xFF]))
        #expect(binary.curlCommand(includingSecrets: true).hasSuffix("--header Content-Type: --data-binary @- http://h/"))
        #expect(binary.curlCommand().hasSuffix("--data-raw '‹withheld›' http://h/"))
    }

    @Test("have nothing in them that a terminal obeys, and no option in place of a URL")
    func controls() {
        let method = HTTPMethod(rawValue: "\u{1B}]0;x\u{7}")
        let request = HTTPRequest(method, "http://h/\u{1B}[2J", body: .text("a\u{9B}8m\u{202E}'\\!\rb\r\n\tc'\u{301}"))
        let command = request.curlCommand(includingSecrets: true)
        #expect(command.hasPrefix(#"curl --request $'\033]0;x\007' "#), "\(command)")
        let body = #"$'a\302\2338m\342\200\256\047\134\041\015b\015\012"# + "\tc\\047\u{301}'"
        #expect(command.contains(" --data-raw \(body) "), "\(command)")
        #expect(command.hasSuffix(#" --globoff $'http://h/\033[2J'"#), "\(command)")
        #expect(HTTPRequest("-o/dev/tty").curlCommand() == "curl --url -o/dev/tty")
    }

    @Test("name the credentials of a URL only when they may")
    func credentials() {
        let request = HTTPRequest("http://u:p@bücher.example/?token=t")
        #expect(request.curlCommand() == "curl 'http://‹withheld›@xn--bcher-kva.example/?token=‹withheld›'")
        #expect(request.curlCommand(includingSecrets: true) == "curl 'http://u:p@xn--bcher-kva.example/?token=t'")
        #expect(HTTPRequest("relative").curlCommand() == "curl relative")
    }
}
