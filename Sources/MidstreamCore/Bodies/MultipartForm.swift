public import Foundation

/// A form with files, sent as `multipart/form-data` (RFC 7578).
///
/// Files are read while the form is sent, so a large one takes no memory. When the length of every part is known, so is that
/// of the whole. Names and file names are sent as raw UTF-8; `filename*` isn't for forms (RFC 7578 §4.2).
public struct MultipartForm: Sendable {
    /// One part of a form.
    public struct Part: Sendable {
        /// The lines of its head that say what it is.
        fileprivate let head: [UInt8]
        fileprivate let content: HTTPBody
        fileprivate let headers: HTTPHeaders

        /// A plain field.
        public static func field(_ name: String, _ value: some LosslessStringConvertible) -> Part {
            body(name, .bytes(Array(value.description.utf8)))
        }

        /// A file from disk, read while the form is sent, as ``HTTPBody/file(_:)`` is.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - file: Where the file is.
        ///   - fileName: The name that the server is told; the file's own by default.
        ///   - contentType: `application/octet-stream` by default.
        public static func file(
            _ name: String, _ file: URL, fileName: String? = nil, contentType: String = "application/octet-stream"
        ) -> Part {
            body(name, .file(file), fileName: fileName ?? file.lastPathComponent, contentType: contentType)
        }

        /// Any body, such as bytes, a stream or a part of a file.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - content: What is in it.
        ///   - fileName: The name that the server is told; none by default, which makes it a field.
        ///   - contentType: That of the headers by default, or else the body's own.
        ///   - headers: Further fields of the part's head; none by default. Servers may ignore them (RFC 7578 §4.8). A
        ///     `Content-Disposition` among them is ignored; it is made from the names.
        public static func body(
            _ name: String, _ content: HTTPBody, fileName: String? = nil, contentType: String? = nil, headers: HTTPHeaders = [:]
        ) -> Part {
            var headers = headers
            let given = headers.values(.contentType).first
            if given != nil { headers.remove(.contentType) }
            headers.remove(.contentDisposition)
            var head = "Content-Disposition: form-data; name=\"\(name.quotedInForm)\""
            if let fileName { head += "; filename=\"\(fileName.quotedInForm)\"" }
            if let type = contentType ?? given ?? content.contentType {
                head += "\r\nContent-Type: \(type.withoutControls)"
            }
            return Part(head: Array("\(head)\r\n".utf8), content: content, headers: headers)
        }
    }

    private(set) var parts: Multipart

    /// What separates the parts; random.
    public var boundary: String { parts.boundary }

    /// Makes a form.
    ///
    /// - Parameters:
    ///   - parts: What it holds at first; nothing by default.
    ///   - boundary: A text of at most 70 characters that occurs in no part; random by default. Sending fails with
    ///     ``HTTPError/Code/invalidRequest`` when it can't be one, or occurs in a part that is in memory.
    public init(_ parts: [Part] = [], boundary: String = Multipart.randomBoundary()) {
        self.parts = Multipart(subtype: "form-data", boundary: boundary)
        for part in parts { add(part) }
    }

    /// Adds a part.
    public mutating func add(_ part: Part) { parts.add(part.content, head: part.head, part.headers) }
}

extension MultipartForm: CustomStringConvertible, CustomReflectable {
    /// How many parts it has; never what is in them.
    public var description: String { "form of \(parts.count) parts" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["form": description]) }
}

extension HTTPBody {
    /// A form with fields and files.
    ///
    /// ```swift
    /// client.post("films", body: .multipart([.field("title", title), .file("film", file)]))
    /// ```
    public static func multipart(_ parts: [MultipartForm.Part]) -> HTTPBody { multipart(MultipartForm(parts)) }

    /// A form with files. It can be sent again when each of its parts can.
    public static func multipart(_ form: MultipartForm) -> HTTPBody { multipart(form.parts) }
}

extension String {
    /// The text as it may stand between quotes in a part's head (WHATWG HTML, multipart/form-data encoding algorithm).
    fileprivate var quotedInForm: String { percentEncoded(exceptFor: .quotedInForm, others: true) }

    /// Without what can stand neither in a field nor in a quoted string.
    var withoutControls: String {
        let isControl = { (byte: UInt8) in byte < 32 || byte == 127 }
        return self[...].withBytes { bytes in
            bytes.contains(where: isControl) ? String(decoding: bytes.filter { !isControl($0) }, as: UTF8.self) : self
        }
    }
}
