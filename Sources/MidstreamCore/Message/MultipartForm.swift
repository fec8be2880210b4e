public import Foundation

/// A form with files, sent as `multipart/form-data` (RFC 7578).
///
/// Files are read while the form is sent, so a large one takes no memory. When the length of every part is known, so is that
/// of the whole. Names and file names are sent as raw UTF-8; `filename*` isn't for forms (RFC 7578 §4.2).
public struct MultipartForm: Sendable {
    private(set) var parts: Multipart

    /// What separates the parts; random.
    public var boundary: String { parts.boundary }

    /// An empty form.
    ///
    /// - Parameter boundary: A text of at most 70 characters that occurs in no part; random by default. Sending fails with
    ///   ``HTTPError/Code/invalidRequest`` when it can't be one, or occurs in a part that is in memory.
    public init(boundary: String = Multipart.randomBoundary()) {
        parts = Multipart(.formData, boundary: boundary)
    }

    /// Adds a plain field.
    public mutating func add(_ name: String, _ value: String) {
        add(name, content: .bytes(Array(value.utf8)), fileName: nil, contentType: nil)
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
        add(name, content: .file(file), fileName: fileName ?? file.lastPathComponent, contentType: contentType)
    }

    /// Adds a part with any body, such as bytes or a stream.
    ///
    /// - Parameter headers: Further fields of the part's head; none by default. Servers may ignore them (RFC 7578 §4.8).
    public mutating func add(
        _ name: String, content: HTTPBody, fileName: String?, contentType: String?, headers: HTTPHeaders = [:]
    ) {
        var head = "Content-Disposition: form-data; name=\"\(name.quotedInForm)\""
        if let fileName { head += "; filename=\"\(fileName.quotedInForm)\"" }
        if let type = contentType ?? content.contentType {
            head += "\r\nContent-Type: \(String(type.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }))"
        }
        parts.add(content, head: Array("\(head)\r\n".utf8), headers)
    }
}

extension MultipartForm: CustomStringConvertible, CustomReflectable {
    /// How many parts it has; never what is in them.
    public var description: String { "form of \(parts.count) parts" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["form": description]) }
}

extension HTTPBody {
    /// A form with files. It can be sent again when each of its parts can.
    public static func multipart(_ form: MultipartForm) -> HTTPBody { multipart(form.parts) }
}

extension String {
    /// The text as it may stand between quotes in a part's head (WHATWG HTML, multipart/form-data encoding algorithm).
    fileprivate var quotedInForm: String {
        var quoted = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "%22"
            case "\r": quoted += "%0D"
            case "\n": quoted += "%0A"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }
}
