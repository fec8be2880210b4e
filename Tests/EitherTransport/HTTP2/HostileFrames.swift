#if os(Linux)
    /// Frames that break the rules of connections and streams (RFC 9113 §§3–6).
    extension Misbehaviour {
        private typealias Frame = HTTP2Frame

        private static func head(_ stream: UInt32, _ flags: UInt8 = Frame.endHeaders) -> [UInt8] {
            Frame.headers([.ok], flags, stream: stream)
        }

        /// RFC 9113 §3.4 and §6.5.
        static let beginnings: [Misbehaviour] = [
            beginning("HTTP/1.1 in place of a preface", Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
            beginning("garbage in place of a preface", [UInt8](repeating: 0, count: 9) + Array("garbage, and more of it".utf8)),
            beginning("a response in place of SETTINGS", Frame.response(stream: 1)),
            beginning("SETTINGS of five bytes", Frame.make(.settings, 0, [1, 2, 3, 4, 5])),
            beginning("SETTINGS of a stream", Frame.make(.settings, stream: 1)),
            beginning(
                "an acknowledgement with values",
                Frame.settings() + Frame.make(.settings, Frame.acknowledgement, [0, 3, 0, 0, 0, 1])),
            beginning("a window that is too large", Frame.settings((4, 1 << 31))),
            beginning("a frame size that is too small", Frame.settings((5, 1_000))),
            beginning("a frame size that is too large", Frame.settings((5, 1 << 24))),
            beginning("ENABLE_PUSH of 2", Frame.settings((2, 2))),
            beginning("ENABLE_PUSH of a server", Frame.settings((2, 1))),
        ]

        /// RFC 9113 §4.2 and §6.
        static let frames: [Misbehaviour] = [
            answering("a DATA frame that is too large", .brokenConnection, .brokenConnectionPassesForEnd) {
                head($0) + Frame.make(.data, stream: $0, [UInt8](repeating: 120, count: 16_385))
            },
            answering("a HEADERS frame that is too large", .brokenConnection) {
                Frame.headers([.ok, HPACKField("x-a", String(repeating: "a", count: 16_385))], stream: $0)
            },
            answering("a frame of 16 MiB that never comes", .brokenConnection) {
                [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, UInt8($0)] + [UInt8](repeating: 0, count: 1_000)
            },
            answering("DATA of stream 0", .brokenConnection) { _ in Frame.data("ok", stream: 0) },
            answering("HEADERS of stream 0", .brokenConnection) { _ in head(0) },
            answering("RST_STREAM of stream 0", .brokenConnection) { _ in Frame.reset(8, stream: 0) },
            answering("RST_STREAM of an idle stream", .brokenConnection) { _ in Frame.reset(8, stream: 99) },
            answering("RST_STREAM of three bytes", .brokenConnection) { Frame.make(.reset, stream: $0, [0, 0, 8]) },
            answering("DATA of an idle stream", .brokenConnection) { _ in Frame.data("ok", stream: 99) },
            answering("HEADERS of a stream of the server's", .brokenConnection) { head(2) + Frame.response(stream: $0) },
            answering("DATA before HEADERS", .brokenConnection) { Frame.data("ok", stream: $0) + Frame.response(stream: $0) },
            answering("WINDOW_UPDATE of 0 for the connection", .brokenConnection) {
                Frame.windowUpdate(0, stream: 0) + Frame.response(stream: $0)
            },
            answering("WINDOW_UPDATE of 0 for a stream", .brokenConnection) {
                Frame.windowUpdate(0, stream: $0) + Frame.response(stream: $0)
            },
            answering("WINDOW_UPDATE past the end for the connection", .brokenConnection) {
                Frame.windowUpdate(0x7fff_ffff, stream: 0) + Frame.response(stream: $0)
            },
            answering("WINDOW_UPDATE past the end for a stream", .malformed) {
                Frame.windowUpdate(0x7fff_ffff, stream: $0) + Frame.response(stream: $0)
            },
            answering("WINDOW_UPDATE of three bytes", .brokenConnection) {
                Frame.make(.windowUpdate, 0, [0, 0, 1]) + Frame.response(stream: $0)
            },
            answering("WINDOW_UPDATE for an idle stream", .brokenConnection) {
                Frame.windowUpdate(1, stream: 99) + Frame.response(stream: $0)
            },
            answering("PING of seven bytes", .brokenConnection) {
                Frame.make(.ping, 0, [1, 2, 3, 4, 5, 6, 7]) + Frame.response(stream: $0)
            },
            answering("PING of a stream", .brokenConnection) {
                Frame.make(.ping, stream: $0, [1, 2, 3, 4, 5, 6, 7, 8]) + Frame.response(stream: $0)
            },
            answering("PUSH_PROMISE", .brokenConnection) {
                let fields = [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "x")]
                return Frame.make(
                    .pushPromise, Frame.endHeaders, stream: $0, [0, 0, 0, 2] + fields.map { HPACKField($0, $1) }.encoded)
                    + Frame.response(stream: $0)
            },
            answering("padding longer than DATA", .brokenConnection, .brokenConnectionPassesForEnd) {
                head($0) + Frame.make(.data, Frame.endStream | Frame.padded, stream: $0, [5, 111, 107])
            },
            answering("padding without its length", .brokenConnection, .brokenConnectionPassesForEnd) {
                head($0) + Frame.make(.data, Frame.endStream | Frame.padded, stream: $0)
            },
            answering("padding longer than HEADERS", .brokenConnection) {
                Frame.make(.headers, Frame.endHeaders | Frame.padded, stream: $0, [255] + [HPACKField.ok].encoded)
            },
            answering("padding within its frame", .answered("ok")) {
                head($0) + Frame.make(.data, Frame.endStream | Frame.padded, stream: $0, [3, 111, 107, 0, 0, 0])
            },
            answering("DATA without bytes", .answered("ok")) {
                head($0) + Frame.data("", stream: $0) + Frame.data("", stream: $0) + Frame.data("ok", end: true, stream: $0)
            },
            answering("PRIORITY of a stream that depends on itself", .answered("ok"), .priorityIsChecked) {
                Frame.make(.priority, stream: $0, [0, 0, 0, UInt8($0), 1]) + Frame.response(stream: $0)
            },
            answering("unknown frames and settings", .answered("ok")) {
                Frame.make(.unknown, 0xff, stream: $0, [1, 2, 3]) + Frame.make(.unknown) + Frame.settings((0x99, 7))
                    + Frame.response(stream: $0)
            },
        ]

        /// RFC 9113 §6.2 and §6.10.
        static let continuations: [Misbehaviour] = [
            answering("CONTINUATION, interrupted by DATA", .brokenConnection) {
                head($0, 0) + Frame.data("ok", end: true, stream: $0)
            },
            answering("CONTINUATION, interrupted by PING", .brokenConnection) {
                head($0, 0) + Frame.make(.ping, 0, [1, 2, 3, 4, 5, 6, 7, 8])
            },
            answering("CONTINUATION of another stream", .brokenConnection) {
                head($0, 0) + Frame.make(.continuation, Frame.endHeaders, stream: $0 + 2)
            },
            answering("CONTINUATION of nothing", .brokenConnection) {
                Frame.make(.continuation, Frame.endHeaders, stream: $0, [HPACKField.ok].encoded)
            },
            answering("CONTINUATION within a field", .answered("ok")) {
                let block = [HPACKField.ok].encoded
                return Frame.make(.headers, 0, stream: $0, Array(block.prefix(3))) + Frame.make(.continuation, stream: $0)
                    + Frame.make(.continuation, Frame.endHeaders, stream: $0, Array(block.dropFirst(3)))
                    + Frame.data("ok", end: true, stream: $0)
            },
        ]

        /// RFC 9113 §5.1, §6.4 and §6.8.
        static let ends: [Misbehaviour] = otherEnds + resets + accusations

        private static let otherEnds: [Misbehaviour] =
            [
                answering("HEADERS after the end", .answered("ok")) { Frame.response(stream: $0) + head($0) },
                answering("DATA after the end", .answered("ok")) {
                    Frame.response(stream: $0) + Frame.data("more", end: true, stream: $0)
                },
                answering("a reset after the end", .answered("ok")) { Frame.response(stream: $0) + Frame.reset(0, stream: $0) },
                answering("a reset without an error before the head", .lost) { Frame.reset(0, stream: $0) },
                answering("a reset without an error within the body", .lost, .cleanResetPassesForEnd) {
                    head($0) + Frame.data("ok", stream: $0) + Frame.reset(0, stream: $0)
                },
                answering("a reset without an error within a body of known length", .lost) {
                    Frame.headers([.ok, HPACKField("content-length", "5")], stream: $0) + Frame.data("ok", stream: $0)
                        + Frame.reset(0, stream: $0)
                },
                answering("a refused stream", .sentAgain) { Frame.reset(7, stream: $0) },
                answering("a stream that wants HTTP/1.1", .sentAgain) { Frame.reset(13, stream: $0) },
                answering("GOAWAY above the stream", .answered("ok")) {
                    Frame.goAway(last: 0x7fff_ffff) + Frame.response(stream: $0)
                },
                answering("GOAWAY at the stream", .answered("ok")) { Frame.goAway(last: $0) + Frame.response(stream: $0) },
                answering("GOAWAY below the stream", .sentAgain, .goAwayIsAnError) { _ in Frame.goAway(last: 0) },
                ending("GOAWAY below the stream, and the end", .sentAgain, .goAwayIsAnError) { _ in Frame.goAway(last: 0) },
                ending("GOAWAY with an error at the stream, and the end") { Frame.goAway(last: $0, 11) },
                answering("GOAWAY that takes back another", .brokenConnection) {
                    Frame.goAway(last: $0) + Frame.goAway(last: $0 + 10) + Frame.response(stream: $0)
                },
                answering("GOAWAY of four bytes", .brokenConnection) {
                    Frame.make(.goAway, 0, [0, 0, 0, 0]) + Frame.response(stream: $0)
                },
                answering("GOAWAY of a stream", .brokenConnection) {
                    Frame.make(.goAway, stream: $0, [0, 0, 0, 0, 0, 0, 0, 0]) + Frame.response(stream: $0)
                },
                ending("an end without an answer") { _ in [] },
                ending("an end within a frame's head") { head($0) + [0, 0] },
                ending("an end within HEADERS") { Array(head($0).prefix(12)) },
                ending("an end within DATA") { head($0) + Array(Frame.data("hello", end: true, stream: $0).dropLast(3)) },
                ending("an end after HEADERS") { head($0) },
                ending("an end after DATA") { head($0) + Frame.data("ok", stream: $0) },
                ending("an end after as much DATA as there is", .lost, .lengthEndsStream) {
                    Frame.headers([.ok, HPACKField("content-length", "2")], stream: $0) + Frame.data("ok", stream: $0)
                },
            ]

        /// INTERNAL_ERROR, SETTINGS_TIMEOUT, CANCEL, CONNECT_ERROR, ENHANCE_YOUR_CALM, and one that doesn't exist.
        private static let resets: [Misbehaviour] = ([2, 4, 8, 10, 11, 14] as [UInt32]).flatMap { code in
            [
                answering("a reset with code \(code) before the head", .lost) { Frame.reset(code, stream: $0) },
                answering("a reset with code \(code) within the body", .lost) {
                    head($0) + Frame.data("ok", stream: $0) + Frame.reset(code, stream: $0)
                },
            ]
        }

        /// PROTOCOL_ERROR, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, COMPRESSION_ERROR: rules that the client is said to have broken.
        private static let accusations: [Misbehaviour] = ([1, 3, 6, 9] as [UInt32]).map { code in
            answering("a reset with code \(code)", .lost, .accusationIsAViolation) { Frame.reset(code, stream: $0) }
        }
    }
#endif
