#if os(Linux)
    import Foundation

    /// For which of the documented decisions the wire refuses a response of HTTP/1.1.
    enum WireDecisions {
        private static let chunk =
            "the same in a chunk's size or after a chunk; a size without digits, or with something behind it that is no extension"
        private static let longChunk = "a chunk's size of more than 16 digits, or an extension over 4 KiB"
        private static let noField =
            "a folded line before any field; a line that is no field, as it has no colon, no name, or white space in its name"
        private static let badByte =
            "a zero byte in a head; one, or a bare carriage return, in a trailer; a line of either that begins with a carriage return and "
            + "isn't empty"
        private static let statusLine =
            "more than one space in a status line; a minor version that isn't a digit; a status that isn't three digits from 100"
        private static let tooMuch =
            "a head or trailers over 256 KiB or 1,000 fields; more than 32 interim responses other than 102 and 104"
        private static let cut = "an end of the connection before the response's"

        /// By the error's message, what the table says is in the response.
        static let rows: [String: String] = [
            "A chunk of the response's body is malformed.": chunk,
            "The size of a chunk has too many digits.": longChunk,
            "The line of a chunk's size is too long.": longChunk,
            "A line in the head or the trailers of the response is no field.": noField,
            "The head or the trailers of the response begin with a folded line.": noField,
            "There is a zero byte in the head of the response.": badByte,
            "There is a bare carriage return or a zero byte in a trailer of the response.": badByte,
            "A line of the head or the trailers of the response begins with a bare carriage return.": badByte,
            "The response doesn't begin with the status line of an HTTP/1 response.":
                "anything but a status line of HTTP/1 at the beginning",
            "The status line of the response is malformed.": statusLine,
            "The head or the trailers of the response are larger than 262144 bytes.": tooMuch,
            "The head or the trailers of the response have more than 1000 fields.": tooMuch,
            "More than 32 interim responses came.": tooMuch,
            "The response's Content-Length isn't a number.":
                "`Content-Length` with different numbers, or none, beside a `Transfer-Encoding`, too",
            "The response's Transfer-Encoding isn't chunked.": "any other `Transfer-Encoding`",
            "The server switched protocols unasked.": "101",
            "The connection was closed before an answer came.": cut,
            "The connection was closed within the head.": cut,
            "The connection was closed before the body's end.": cut,
        ]

        /// What is in a response, in each row of the table.
        static func documented() throws -> Set<String> {
            let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Documentation/decisions/ConnectionsOfOurOwn.md")
            let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            let rows = lines.filter { $0.hasPrefix("| ") }
            return Set(rows.map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) })
        }
    }
#endif
