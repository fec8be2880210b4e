@testable import MidstreamCore
import Testing

@Suite("Parts of field values (RFC 9110 §5.6)")
struct FieldValueScannerTests {
    @Test(
        "quoted strings lose quotes and backslashes",
        arguments: [
            ("\"\"", ""), (#""a b""#, "a b"), (#""a\"b""#, "a\"b"), (#""\\""#, "\\"), (#""\\\"x""#, "\\\"x"), (#""ü\ü""#, "üü"),
            ("\"open", "open"), ("\"open\\", "open"), ("\"e\u{301}\"", "e\u{301}"),
        ])
    func quotedStrings(value: String, text: String) throws {
        var scanner = FieldValueScanner(value)
        let read = scanner.quotedString()
        let part = try #require(read)
        #expect(scanner.text(part) == text && scanner.isAtEnd)
    }

    @Test("a quoted string is open when the value ends before it")
    func open() {
        for (text, isOpen) in [
            (#"a="b"#, true), (#"a=""#, true), (#"a="\"#, true), (#"a="\""#, true), (#"a="b""#, false), (#"a="""#, false),
            (#"a=b"#, false), (#"a="b";"#, false), (#"a= b"#, false),
        ] {
            var scanner = FieldValueScanner(text)
            let value = scanner.parameter()?.value
            #expect(value.map(scanner.isOpen) == isOpen, "\(text)")
        }
    }

    @Test("what isn't there isn't read")
    func nothing() {
        var scanner = FieldValueScanner("(a")
        let parts = [scanner.token(), scanner.quotedString(), scanner.parameter()?.name]
        let isTaken = scanner.take("a")
        #expect(parts == [nil, nil, nil] && !isTaken && scanner.current == UInt8(ascii: "("))
        let missing = scanner.part(through: ">")
        #expect(missing == nil && scanner.isAtEnd)
        scanner.skipByte()
        let none = scanner.token()
        #expect(scanner.isAtEnd && none == nil && scanner.current == nil)
    }

    @Test("names are compared without case, and only ASCII has any")
    func names() throws {
        var scanner = FieldValueScanner("REL=X")
        let read = scanner.parameter()
        let parameter = try #require(read)
        #expect(scanner.isToken(parameter.name, "rel") && !scanner.isToken(parameter.name, "re"))
        #expect(scanner.lowercasedText(parameter.name) == "rel" && parameter.value.map(scanner.text) == "X")
    }

    @Test("a value without quotes is a token, or what senders make of it")
    func unquoted() {
        let value = { (text: String, takesAnything: Bool) -> String? in
            var scanner = FieldValueScanner(text)
            return scanner.parameter(takesAnything: takesAnything)?.value.map(scanner.text)
        }
        #expect(value("a=b/c;d", false) == "b" && value("a=b/c;d", true) == "b/c")
        #expect(value("a=/", false) == nil && value("a=", true) == "" && value("a \t= \"b\"", false) == "b")
        #expect(value("a", true) == nil)
    }

    @Test(
        "the parameter of a media type",
        arguments: [
            ("text/html", nil), ("text/html;charset=utf-8", "utf-8"), ("text/html; CharSet=\"UTF-8\"", "UTF-8"),
            ("text/html ; a=b ; charset = x", "x"), ("text/html;charset=a;charset=b", "a"), ("charset=x", nil),
            ("text/html; a=\"; charset=no\"; charset=yes", "yes"), ("text/html;;; charset=x", "x"),
            ("text/html; charset", nil), ("text/html; charset=", nil), ("text/html; =; charset=x", "x"),
            ("text/html; xcharset=a; charset=b", "b"), ("", nil), (";", nil), ("a/b; charset=\u{301}x; charset=y", "y"),
        ] as [(String, String?)])
    func mediaTypes(value: String, charset: String?) {
        #expect(FieldValueScanner.parameter("charset", of: value) == charset)
    }

    @Test(
        "members of a list have no space around them, and empty ones are none",
        arguments: [
            ("", []), (" ,\t,", []), ("a", ["a"]), (" a , b\t,,c ", ["a", "b", "c"]), ("a b,\"c,d\"", ["a b", "\"c", "d\""]),
        ])
    func members(value: String, members: [String]) {
        var scanner = FieldValueScanner(value)
        var read: [String] = []
        while let member = scanner.member(of: ",") { read.append(scanner.text(member)) }
        #expect(read == members)
    }

    @Test("a part is a token when all of its bytes may stand in one")
    func tokens() {
        for (text, isToken) in [("a", true), ("a-b!", true), ("a b", false), ("é", false), ("\"a\"", false)] {
            var scanner = FieldValueScanner(text)
            let member = scanner.member(of: ",")
            #expect(member.map(scanner.isToken) == isToken, "\(text)")
        }
    }

    @Test("values of the largest size with as many parts as fit are read to their end")
    func large() {
        let repeated = { (part: String) in String(repeating: part, count: 200_000 / part.utf8.count) }
        #expect(FieldValueScanner.parameter("charset", of: "a/b" + repeated(";a=\"\\\"\"") + ";charset=x") == "x")
    }
}
