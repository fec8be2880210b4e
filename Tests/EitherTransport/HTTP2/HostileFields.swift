#if os(Linux)
    /// Field sections that break the rules (RFC 9113 §8, RFC 7541).
    extension Misbehaviour {
        private typealias Frame = HTTP2Frame

        private static func field(_ name: String, _ value: String) -> [HPACKField] { [.ok, HPACKField(name, value)] }

        /// RFC 9113 §8.2 and §8.3.
        static let heads: [Misbehaviour] = faultyFields + statuses

        private static let faultyFields: [Misbehaviour] =
            [
                fields("no status", [HPACKField("x-a", "b")]),
                fields("a status twice", [.ok, .ok]),
                fields("a status after a field", [HPACKField("x-a", "b"), .ok]),
                fields("an unknown pseudo-field", field(":what", "b")),
                fields("a pseudo-field of requests", field(":path", "/")),
                fields("a name with a capital", field("X-a", "b")),
                fields("a name without bytes", field("", "b"), .badFieldsAreLeftOut),
                fields("a name with a space", field("x a", "b"), .badFieldsAreLeftOut),
                fields("a name with a colon", field("x:a", "b"), .badFieldsAreLeftOut),
                fields("a name with the end of a line", field("x-a\r\nx-b", "c"), .badFieldsAreLeftOut),
                fields("a name outside of ASCII", field("x-é", "b"), .badFieldsAreLeftOut),
                fields("a value with NUL", field("x-a", "b\0c"), .badFieldsAreLeftOut),
                fields("a value with the end of a line", field("x-a", "b\r\nx-b: c"), .badFieldsAreLeftOut),
                fields("a value with a line feed", field("x-a", "b\nx-b: c"), .badFieldsAreLeftOut),
                fields("connection", field("connection", "close")),
                fields("transfer-encoding", field("transfer-encoding", "chunked")),
                fields("keep-alive", field("keep-alive", "timeout=5")),
                fields("upgrade", field("upgrade", "h2c")),
                fields("proxy-connection", field("proxy-connection", "close")),
            ]

        private static let statuses: [Misbehaviour] =
            ["", "2", "20", "2000", "abc", "200 ", "+20", "101"].map { status(String($0), nil) } + [
                status("099", .smallStatusIsTaken),
                // RFC 9110 §15: for whoever reads it, it is as good as 500.
                answering("the status 600", .answered("ok")) {
                    Frame.headers([HPACKField(":status", "600")], stream: $0) + Frame.data("ok", end: true, stream: $0)
                },
            ]

        private static func status(_ text: String, _ exception: HTTP2Limitation?) -> Misbehaviour {
            fields("the status \(text.debugDescription)", [HPACKField(":status", text)], exception)
        }

        /// RFC 9113 §8.1.1 and §8.1.
        static let messages: [Misbehaviour] = [
            answering("more than content-length", .malformed) {
                Frame.headers(field("content-length", "2"), stream: $0) + Frame.data("o", stream: $0)
                    + Frame.data("kmore", end: true, stream: $0)
            },
            answering("less than content-length", .lost, .shortBodyIsAViolation) {
                Frame.response("ok", [HPACKField("content-length", "5")], stream: $0)
            },
            answering("nothing of content-length", .malformed) {
                Frame.headers(field("content-length", "5"), Frame.endHeaders | Frame.endStream, stream: $0)
            },
            fields("content-length twice", field("content-length", "2") + [HPACKField("content-length", "3")]),
            fields("content-length below zero", field("content-length", "-2")),
            fields("content-length that is no number", field("content-length", "two")),
            fields("content-length past every number", field("content-length", "99999999999999999999999")),
            fields("204 with a body", [HPACKField(":status", "204")]),
            answering("an interim response that ends", .malformed) {
                Frame.headers([HPACKField(":status", "103")], Frame.endHeaders | Frame.endStream, stream: $0)
            },
            fields("an interim response with a body", [HPACKField(":status", "103")]),
            answering("an interim response before the final one", .answered("ok")) {
                Frame.headers([HPACKField(":status", "103")], stream: $0) + Frame.response(stream: $0)
            },
            trailers("trailers", .answered("ok"), HPACKField("x-sum", "1")),
            trailers("trailers with a status", .malformed, .ok),
            trailers("trailers with transfer-encoding", .malformed, HPACKField("transfer-encoding", "chunked")),
            answering("trailers that don't end", .malformed) {
                Frame.headers([.ok], stream: $0) + Frame.data("ok", stream: $0)
                    + Frame.headers([HPACKField("x-sum", "1")], stream: $0)
            },
        ]

        private static func trailers(_ name: String, _ outcome: Outcome, _ field: HPACKField) -> Misbehaviour {
            answering(name, outcome) {
                Frame.headers([.ok], stream: $0) + Frame.data("ok", stream: $0)
                    + Frame.headers([field], Frame.endHeaders | Frame.endStream, stream: $0)
            }
        }

        /// RFC 7541 §2.3, §4.2, §5 and §6; a field section that can't be decoded breaks the connection (RFC 9113 §4.3).
        static let compression: [Misbehaviour] =
            undecodable.map { name, block in
                answering(name, .brokenConnection) {
                    Frame.make(.headers, Frame.endHeaders, stream: $0, block) + Frame.data("ok", end: true, stream: $0)
                }
            } + tooLarge

        private static let undecodable: [(String, [UInt8])] =
            [
                ("index 0", [0x80]),
                ("an index that stands for nothing", [0xff, 0x80, 1]),
                ("an index past every number", [UInt8](repeating: 0xff, count: 11) + [1]),
                ("an index that is cut", [0xff, 0xff]),
                ("a literal that is cut", [0, 5, 97, 98]),
                ("a string of many gigabytes", [0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x0f]),
                ("Huffman's code for the end", [0, 0x84, 0xff, 0xff, 0xff, 0xff, 0]),
                ("a table that is too large", [0x3f, 0xe1, 0xff, 0xff, 0x7f]),
                ("a table that changes too late", [HPACKField.ok].encoded + [0x20]),
            ]

        private static let tooLarge: [Misbehaviour] =
            [
                // One entry of the table, and 12,000 times its index: 48 MB of 16 KB.
                answering("a bomb of indices", .malformed) {
                    let entry =
                        [0x40] + HPACKField.string(Array("x-a".utf8)) + HPACKField.string([UInt8](repeating: 98, count: 4_000))
                    return Frame.make(
                        .headers, Frame.endHeaders, stream: $0,
                        [HPACKField.ok].encoded + entry + [UInt8](repeating: 0xbe, count: 12_000))
                        + Frame.data("ok", end: true, stream: $0)
                },
                answering("1,500 fields", .malformed) {
                    Frame.headers([.ok] + (0..<1_500).map { _ in HPACKField("x", "y") }, stream: $0)
                        + Frame.data("ok", end: true, stream: $0)
                },
                answering("fields of 640 KB", .malformed) { stream in
                    let block = HPACKField("x-a", String(repeating: "b", count: 16_000)).encoded
                    return Frame.headers([.ok], 0, stream: stream)
                        + (0..<40).flatMap { _ in Frame.make(.continuation, stream: stream, block) }
                        + Frame.make(.continuation, Frame.endHeaders, stream: stream)
                        + Frame.data("ok", end: true, stream: stream)
                },
            ]
    }
#endif
