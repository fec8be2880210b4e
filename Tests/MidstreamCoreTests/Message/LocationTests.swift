@testable import MidstreamCore
import TestSupport
import Testing

@Suite("Locations (RFC 3986 §5.4)", .leavesNothing)
struct LocationTests {
    @Test(
        "normal and abnormal examples",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
            ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ])
    func rfcExamples(location: String, expected: String) {
        #expect(URLText.resolve(location: location, from: "http://a/b/c/d;p?q") == expected)
    }

    @Test(
        "what servers send",
        arguments: [
            ("https://x/y", "https://x/y"), ("  /g  ", "http://a/g"), ("/a b", "http://a/a%20b"), ("/ü", "http://a/%C3%BC"),
            ("//x:81/y", "http://x:81/y"), ("HTTPS://X/y", "HTTPS://X/y"), ("https://x", "https://x"), ("?", "http://a/b?"),
            // Characters that combine with a slash or a dot don't hide it.
            ("/\u{301}/../g", "http://a/g"), ("/x/..\u{301}", "http://a/x/..%CC%81"), ("/x/../\u{301}g", "http://a/%CC%81g"),
            ("/x/./\u{301}", "http://a/x/%CC%81"), ("\u{301}", "http://a/%CC%81"), ("/x/..", "http://a/"),
            ("/a//../b", "http://a/a/b"),
            ("//x/..", "http://x/"), ("/[", "http://a/%5B"),
        ])
    func others(location: String, expected: String) {
        #expect(URLText.resolve(location: location, from: "http://a/b") == expected)
    }

    @Test("a base without a path")
    func noPath() {
        #expect(URLText.resolve(location: "g", from: "http://a") == "http://a/g")
        #expect(URLText.resolve(location: "?x", from: "http://a") == "http://a?x")
    }

    @Test("the fragment is inherited unless the location has its own")
    func fragment() {
        #expect(URLText.resolve(location: "/g", from: "http://a/b#f") == "http://a/g#f")
        #expect(URLText.resolve(location: "/g#s", from: "http://a/b#f") == "http://a/g#s")
    }

    @Test("credentials of the base aren't inherited")
    func userInfo() {
        #expect(URLText.resolve(location: "/g", from: "http://u:p@a:1/b") == "http://a:1/g")
    }

    @Test(
        "what can't be requested is no target",
        arguments: [
            "ftp://x/", "javascript:alert(1)", "http://", "http:///x", "http://h:x/", "/a\u{1}b", "http://a b/", "http:g",
        ])
    func refused(location: String) {
        #expect(URLText.resolve(location: location, from: "http://a/b") == nil)
    }

    @Test(
        "origins compare scheme, host and port",
        arguments: [
            ("http://h", "http://h:80/x", true), ("https://h:443/a", "https://h", true), ("HTTP://H/", "http://h/", true),
            ("http://h", "https://h", false), ("http://h", "http://h:81", false), ("http://h", "http://g", false),
            ("http://u:p@h/", "http://h/", true), ("http://[::1]/", "http://[::1]:80/", true),
            ("http://h:80", "https://h:80", false), ("http://h", "http://h?q", true), ("http://h", "http://h#f", true),
            ("http://h:81", "http://h:81/x", true), ("http://h", "http://h.evil/", false), ("http://h", "http://hh", false),
            ("http://h", "http://h@evil/", false), ("http://h", "http://h:80@evil/", false),
            ("http://h:8", "http://h:81/", false), ("http://h", "http://h\\@evil/", false),
        ])
    func origins(a: String, b: String, isSame: Bool) {
        #expect((HTTPOrigin(a) == HTTPOrigin(b)) == isSame)
        #expect(OriginMatch(a)?.matches(b) == isSame)
        let origin = Array((HTTPOrigin(a)?.description ?? "").utf8)
        // May be false for the same origin, never true for another.
        let isCertain = origin.withUnsafeBufferPointer { b.isCertainly(ofOrigin: $0) }
        #expect(isSame || !isCertain)
    }

    @Test("an origin prints as the start of a URL")
    func originDescription() {
        #expect(HTTPOrigin("https://H:443/x")?.description == "https://h")
        #expect(HTTPOrigin("http://[::1]:8080/x")?.description == "http://[::1]:8080")
        #expect(HTTPOrigin("ftp://h") == nil)
        #expect(HTTPOrigin("/x") == nil)
    }
}
