import ForeignText

/// A text that is expensive to read: a beginning, a part that is repeated up to the size, and an end.
struct WorstInput: Sendable {
    let name: String
    private let make: @Sendable (Int) -> [UInt8]

    init(_ part: String, start: String = "", end: String = "") {
        let shown = part.count > 40 ? "\(part.prefix(40))…" : part + part
        self.init(named: "\(start)\(shown)…\(end)".filter { !$0.isNewline }) { size in
            var bytes = Array(start.utf8)
            while bytes.count + part.utf8.count + end.utf8.count <= size { bytes += part.utf8 }
            return bytes + end.utf8
        }
    }

    /// One whose parts differ.
    init(named name: String, _ make: @escaping @Sendable (Int) -> [UInt8]) { (self.name, self.make) = (name, make) }

    func bytes(_ size: Int) -> [UInt8] { make(size) }
}

enum WorstInputs {
    /// What each parser finds hardest, as far as is known: most parts, longest parts, deepest nesting, what never ends.
    static let all = everywhere + transports

    private static let everywhere: [(ForeignParser, [WorstInput])] = [
        (
            .authenticate,
            [
                .init("a,"), .init("a=b,", start: "Digest "), .init("\\\"", start: "Digest a=\""),
                .init("(", start: "Digest "),
                .init("a \""), .init("a ", start: "Digest a "),
                .init("a,", start: "Digest realm=r,nonce=n,qop=\"", end: "\""),
            ]
        ),
        (
            .cacheControl,
            [
                .init("a,"), .init("max-age=1,"), .init("public,"), .init("private=a,"), .init("\\\"", start: "a=\""),
                .init("a ", start: "private=\""),
                .init("1", start: "max-age="),
                .init("a,", start: "no-cache=\""), .init("="),
            ]
        ),
        (
            .cacheEntry,
            [
                .init("\u{1}"), .init("\0"), .init(named: "ranges") { entry(ranges: 0..<$0 / 16) },
                .init(named: "ranges, the last first") { entry(ranges: (0..<$0 / 16).reversed()) },
            ]
        ),
        (
            // No more fields than the libcurl transport hands over.
            .cacheHead,
            [
                .init("a:" + String(repeating: "b", count: 1_000) + "\n"), .init("a,", start: "Cache-Control:"),
                .init("Cache-Control:" + String(repeating: "a,", count: 500) + "\n"), .init("a,", start: "Vary:"),
                .init("a,", start: "CDN-Cache-Control:"), .init("a,", start: "Connection:"), .init("1", start: "Age:"),
                .init("a,", start: "If-None-Match:"), .init("Expires:" + String(repeating: "0", count: 1_000) + "\n"),
                .init("Set-Cookie:" + String(repeating: "a", count: 1_000) + "\n"),
            ]
        ),
        (.charset, [.init(";"), .init(";a=\"\\b\""), .init("\\\"", start: "a/b;charset=\""), .init(" a=b;", start: "a/b;")]),
        (
            .conditions,
            [.init("\"a\","), .init("W/"), .init(","), .init("1", start: "bytes="), .init("1", start: "bytes 1-")]
        ),
        (.contentLength, [.init("1,"), .init("1", start: "")]),
        (.cookieDate, [.init("a "), .init("1:1:"), .init("1"), .init(" 1:1:1")]),
        (.cookieJar, [.init("a.", start: "http://"), .init("/a", start: "http://h"), .init(":", start: "http://")]),
        (
            .digestField,
            [
                .init("a,"), .init("sha-256=:AA==:,"), .init("a=:A:,"), .init("A", start: "sha-256=:"),
                .init("\\\"", start: "a=\""),
                .init("sha-256=:" + String(repeating: "A", count: 43) + "=:,"), .init(";"),
            ]
        ),
        (
            .eventStream,
            [
                .init("\r"), .init("\n"), .init("data\n"), .init("data: a\n\n"), .init("x", start: "data:"), .init(":\r\n"),
                .init("id:\0\n"), .init("retry:0\n"), .init("\u{FEFF}"), .init("a:"),
            ]
        ),
        (
            .fields,
            [
                .init("Content-Length:25\r\n"), .init("a:\n"), .init(" a\n", start: "a:b\n"), .init("\0", start: "a:"),
                .init(":\n"),
            ]
        ),
        (.httpDate, [.init("a"), .init(" "), .init("1")]),
        (.joinedCookies, [.init(","), .init("a=b,"), .init("a,")]),
        (
            .json,
            [
                .init("["), .init("{\"a\":"), .init("\"\\n\":1,", start: "{", end: "\"a\":{}}"),
                .init("1,", start: "[", end: "1]"),
                .init("\"a\":{},", start: "{", end: "\"a\":1}"), .init("\\\"", start: "\""), .init(" "),
                .init("\"\\u0061\":1,", start: "{", end: "\"a\":{}}"),
            ]
        ),
        // What a value costs is the decoder's matter, and there are few; Scripts/bench streams has many lines.
        (.jsonLines, [.init("\n"), .init("["), .init(" "), .init("\\", start: "\"")]),
        (.jsonSequence, [.init("\u{1E}"), .init("["), .init("\n", start: "\u{1E}["), .init("\\", start: "\u{1E}\"")]),
        (.lines, [.init("x"), .init("\r"), .init("\u{FEFF}"), .init("xxxxxxxxxxxxxxxxxxx\n"), .init("\r\r\r\r\r\r\r\r\r\n")]),
        (
            .link,
            [
                .init("<,"), .init("<>,"), .init("<>;rel=a,"), .init(";rel=a", start: "<>"),
                .init("\\\"", start: "<>;rel=\""),
                .init("a ", start: "<>;rel=\"", end: "\""), .init("\""), .init("a"),
            ]
        ),
        (
            .location,
            [
                .init("../"), .init("a/"), .init("ü"), .init("a.", start: "http://"), .init("%"), .init("?#"), .init("./"),
                .init("/"), .init("ü.", start: "http://"), .init("@", start: "//"), .init("[", start: "//"),
            ]
        ),
        (.multipart, [.init("\""), .init("\r\n"), .init("ü")]),
        (.publicKey, [.init("0\0"), .init("0")]),
        (
            .multipartResponse,
            [
                .init("\r"), .init("\r\n--"), .init("\r\n--b"), .init("\r\n--b--x", start: "--b\r\n\r\n"),
                .init("\r\n--b" + String(repeating: " ", count: 200), start: "--b\r\n\r\n"), .init("--b\r\n\r\n"),
                .init("a:\r\n", start: "--b\r\n"), .init("x", start: "--b\r\n\r\n"),
            ]
        ),
        // The first byte says how large the pieces are.
        (
            .redisReply,
            [
                .init("*1\r\n"), .init("*0\r\n"), .init("+", start: "a"), .init(":1\r\n", start: "a*1000000\r\n"),
                .init("$0\r\n\r\n", start: "\u{1}"), .init("x", start: "\u{1}$8000000\r\n"), .init("x", start: "\u{1}+"),
            ]
        ),
        (
            .redaction,
            [
                .init("a=&", start: "?"), .init("key=&", start: "?"), .init("=&", start: "?"), .init("k%65y=1&", start: "?"),
                .init("@"), .init("@", start: "a:b"), .init("ü=&", start: "?"), .init("=", start: "#"),
            ]
        ),
        (
            .noVarySearch,
            [
                .init("a=1&"), .init("&"), .init("%61"), .init("a=1&" + String(repeating: "b", count: 1000)),
                .init("\"a\" ", start: "params=(", end: ")"),
            ]
        ),
        (.request, [.init("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), .init("\r\n")]),
        (
            .requestHead,
            [
                .init("a:b\r\n", start: "GET / HTTP/1.1\r\nHost: h\r\n"), .init(" "), .init("\r"),
                .init("/", start: "GET ", end: " HTTP/1.1\r\nHost: h\r\n"),
                .init("Content-Length:1\r\n", start: "GET / HTTP/1.1\r\nHost: h\r\n"),
            ]
        ),
        (
            .partRecord,
            [
                .init("[1,2],", start: "{\"done\":[", end: "[1,2]]}"), .init("["),
                .init(named: "ranges") { _ in record(ranges: 0..<4_000) },
                .init(named: "ranges, the last first") { _ in record(ranges: (0..<4_000).reversed()) },
            ]
        ),
        (
            .rangeAnswer,
            [.init("bytes 1-2/3"), .init("1", start: "bytes "), .init("\""), .init("/", start: "bytes "), .init(" ")]
        ),
        (
            .rateLimit,
            [
                .init("a;r=1;t=1,"), .init("a;q=1;w=1,"), .init("1"), .init("a,"), .init(";a=1", start: "a;r=1"),
                .init("\"a\";q=1;w=1;qu=\"requests\","), .init("\\\"", start: "\""),
            ]
        ),
        (.retryAfter, [.init("0"), .init("1"), .init("a ")]),
        (
            .setCookie,
            [
                .init(";", start: "a=b"), .init("; Expires=1 1 1", start: "a=b"), .init("; Path=/", start: "a=b"),
                .init("a", start: "a=b;"), .init("=", start: "a"), .init(";Max-Age=1", start: "a=b"),
                .init("A", start: "a=b; Domain="),
            ]
        ),
        (
            .socketAgreement,
            [
                .init("a,", start: "Upgrade:"), .init("a,", start: "Upgrade: websocket\nConnection: "),
                .init(
                    ";",
                    start: "Upgrade: websocket\nConnection: upgrade\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\n"
                        + "Sec-WebSocket-Extensions: permessage-deflate"),
            ]
        ),
        (
            .socketFrames,
            [
                .init("\u{0}", start: "\u{0}"), .init("\u{1}\u{0}", start: "\u{0}"), .init("\u{9}\u{0}", start: "\u{0}"),
                .init(named: "empty pings") { [0] + (1..<max(2, $0 / 2)).flatMap { _ in [0x89, 0] as [UInt8] } },
                .init(named: "one-byte messages") { [0] + (0..<($0 / 3)).flatMap { _ in [0x82, 1, 0] as [UInt8] } },
            ]
        ),
        (
            .socketHandshake,
            [
                .init(";", start: "permessage-deflate"), .init(" ", start: "permessage-deflate;"),
                .init("server_max_window_bits=9;"),
            ]
        ),
        (
            .structured,
            [
                .init("a,"), .init("1 ", start: "a=("), .init(";a", start: "a"), .init("\\\"", start: "a=\""),
                .init("a", start: ""), .init(" "), .init(";a=1", start: "a"),
                .init("a" + String(repeating: ";a", count: 256) + ","),
                .init("a" + String(repeating: ";a=\"\"", count: 256) + ","),
                .init("a=(" + String(repeating: "a ", count: 256) + "),"),
                .init("(" + String(repeating: "1 ", count: 256) + "),"),
                .init("a" + String(repeating: " ", count: 1000) + ","),
            ]
        ),
        (
            .url,
            [
                .init("ü"), .init("ü", start: "http://h/"), .init("a.", start: "http://"), .init("%", start: "http://h?"),
                .init("[", start: "http://h/"), .init("/."), .init("ü.", start: "http://"),
            ]
        ),
        (
            .traceParent,
            [.init("0"), .init("-", start: "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), .init("ü")]
        ),
        (
            .uploadLimit,
            [.init("a,"), .init("max-age=1,"), .init("1", start: "max-age="), .init(";a=\"\"", start: "a=1"), .init("=")]
        ),
        (.vary, [.init("a,"), .init(","), .init("a;q=0.5,"), .init(";a"), .init("a ,"), .init("\""), .init("\"a\\\"")]),
    ]

    #if os(Linux)
        private static let transports: [(ForeignParser, [WorstInput])] = [
            (
                .responseHead,
                [
                    .init("a:b\r\n", start: "HTTP/1.1 200\r\n"), .init("a"), .init(":"), .init("HTTP/1.1 103\r\n\r\n"),
                    .init("HTTP/1.1 103\r\na:b\r\n" + String(repeating: " \r\n", count: 900) + "\r\n"),
                    .init("HTTP/1.1 200\r\n\r\na:b\r\n" + String(repeating: " a\r\n", count: 900) + "\r\n"),
                    .init("HTTP/1.1 200\r\n\r\n" + String(repeating: "a:b\r\n", count: 999) + "\r\n"),
                    .init("HTTP/1.1 103\r\n" + String(repeating: "Content-Length:1\r\n", count: 900) + "\r\n"),
                    .init("HTTP/1.1 103\r\n" + String(repeating: "x", count: 262_000) + ":\r\n\r\n"),
                    .init("HTTP/1.1 103\r\na:" + String(repeating: " ", count: 262_000) + "\r\n\r\n"),
                    .init("HTTP/1.1 103\r\na:b" + String(repeating: "\r", count: 262_000) + "c\r\n\r\n"),
                    .init("HTTP/1.1 103\r\na:b" + String(repeating: "\0", count: 262_000) + "c\r\n\r\n"),
                ]
            ),
            (
                .wireResponse,
                [
                    .init("1\r\na\r\n", start: "cHTTP/1.1 200 OK\r\n\r\n"), .init("0", start: "cHTTP/1.1 200 OK\r\n\r\n"),
                    .init("1;" + String(repeating: " ", count: 4_000) + "\r\na\r\n", start: "cHTTP/1.1 200 OK\r\n\r\n"),
                    .init("a:\r\n", start: "cHTTP/1.1 200 OK\r\n\r\n0\r\n"), .init("a:\n", start: "eHTTP/1.1 200 OK\r\n"),
                    .init("HTTP/1.1 200\r\n\r\n", start: "e"), .init("\n\r", start: "eHTTP/1.1 200"),
                ]
            ),
        ]
    #else
        private static let transports: [(ForeignParser, [WorstInput])] = []
    #endif

    /// A stored entry of which single bytes are there.
    private static func entry(ranges places: some Collection<Int>) -> [UInt8] {
        var numbers = [1, 1, 200, 0, 0, 0, 0, 0, UInt64(places.count)]
        for place in places { numbers += [UInt64(2 * place), UInt64(2 * place + 1)] }
        return (numbers + [0, 0]).flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
    }

    /// What is kept beside a file of which single bytes are there; no more of it is read than these have room in.
    private static func record(ranges places: some Collection<Int>) -> [UInt8] {
        let done = places.map { "[\(2 * $0),\(2 * $0 + 1)]" }.joined(separator: ",")
        return Array("{\"url\":\"\",\"validator\":{\"eTag\":{\"_0\":\"\"}},\"done\":[\(done)]}".utf8)
    }
}
