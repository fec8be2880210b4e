public import Foundation

/// A form with files, sent as `multipart/form-data` (RFC 7578).
///
/// Files are read while the form is sent, so a large one takes no memory. When the length of every part is known, so is that
/// of the whole.
public struct MultipartForm: Sendable {
    /// One part of a form.
    public struct Part: Sendable {
        let name: String
        let content: HTTPBody
        let fileName: String?
        let contentType: String?

        /// A plain field.
        public static func field(_ name: String, _ value: some LosslessStringConvertible) -> Part {
            Part(name: name, content: .bytes(Array(value.description.utf8)), fileName: nil, contentType: nil)
        }

        /// A file from disk, read while the form is sent.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - file: Where the file is.
        ///   - fileName: The name that the server is told; the file's own by default.
        ///   - contentType: `application/octet-stream` by default.
        public static func file(
            _ name: String, _ file: URL, fileName: String? = nil, contentType: String = "application/octet-stream"
        ) -> Part {
            Part(name: name, content: .file(file), fileName: fileName ?? file.lastPathComponent, contentType: contentType)
        }

        /// Any body, such as bytes, a stream or a part of a file.
        ///
        /// - Parameters:
        ///   - fileName: The name that the server is told; none by default, which makes it a field.
        ///   - contentType: The body's own by default.
        public static func body(
            _ name: String, _ content: HTTPBody, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            Part(name: name, content: content, fileName: fileName, contentType: contentType)
        }

        func head(boundary: String) -> [UInt8] {
            var head = "Content-Disposition: form-data; name=\"\(name.quotedInForm)\""
            if let fileName { head += "; filename=\"\(fileName.quotedInForm)\"" }
            if let type = contentType ?? content.contentType {
                head += "\r\nContent-Type: \(type.withoutControls)"
            }
            return Array("--\(boundary)\r\n\(head)\r\n\r\n".utf8)
        }
    }

    /// What separates the parts; random.
    public let boundary: String
    private(set) var parts: [Part] = []

    /// Makes a form.
    ///
    /// - Parameters:
    ///   - parts: What it holds at first; nothing by default.
    ///   - boundary: A text of at most 70 token characters that occurs in no part; random by default.
    public init(_ parts: [Part] = [], boundary: String = "midstream-" + UUID().uuidString) {
        self.parts = parts
        self.boundary = boundary
    }

    /// Adds a part.
    public mutating func add(_ part: Part) { parts.append(part) }

    /// Adds a plain field.
    public mutating func add(_ name: String, _ value: String) {
        add(.field(name, value))
    }

    /// Adds a file from disk, read while the form is sent.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - file: Where the file is.
    ///   - fileName: The name that the server is told; the file's own by default.
    ///   - contentType: `application/octet-stream` by default.
    public mutating func add(
        _ name: String, file: URL, fileName: String? = nil, contentType: String = "application/octet-stream"
    ) {
        add(.file(name, file, fileName: fileName, contentType: contentType))
    }

    /// Adds a part with any body, such as bytes or a stream.
    public mutating func add(_ name: String, content: HTTPBody, fileName: String?, contentType: String?) {
        add(.body(name, content, fileName: fileName, contentType: contentType))
    }

    var end: [UInt8] { Array("--\(boundary)--\r\n".utf8) }

    var length: Int64? {
        var total = Int64(end.count)
        for part in parts {
            guard let length = part.content.length else { return nil }
            total += Int64(part.head(boundary: boundary).count) + length + 2
        }
        return total
    }
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
    public static func multipart(_ form: MultipartForm) -> HTTPBody {
        let type = "multipart/form-data; boundary=\(form.boundary)"
        let make: @Sendable () -> ChunkIterator = { MultipartChunks.iterator(over: form) }
        if form.parts.allSatisfy({ $0.content.replayability == .replayable }) {
            return HTTPBody(.stream(FreshChunks(length: form.length, make)), contentType: type)
        }
        return HTTPBody(.once(OnceChunks(length: form.length, make)), contentType: type)
    }
}

private enum MultipartChunks {
    static func iterator(over form: MultipartForm) -> ChunkIterator {
        var parts = form.parts.makeIterator()
        var content: HTTPBody.AsyncIterator?
        var isAtEnd = false
        return ChunkIterator {
            if var current = content {
                if let chunk = try await current.next() {
                    content = current
                    return chunk
                }
                content = nil
                return [13, 10]
            }
            if let part = parts.next() {
                content = part.content.makeAsyncIterator()
                return part.head(boundary: form.boundary)
            }
            defer { isAtEnd = true }
            return isAtEnd ? nil : form.end
        }
    }
}

extension String {
    /// The text as it may stand between quotes in a part's head (WHATWG HTML, multipart/form-data encoding algorithm).
    fileprivate var quotedInForm: String {
        self[...].withBytes { $0.percentEncoded(exceptFor: .quotedInForm, others: true) } ?? self
    }

    fileprivate var withoutControls: String {
        let isControl = { (byte: UInt8) in byte < 32 || byte == 127 }
        return self[...].withBytes { bytes in
            bytes.contains(where: isControl) ? String(decoding: bytes.filter { !isControl($0) }, as: UTF8.self) : self
        }
    }
}
