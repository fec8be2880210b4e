import Foundation
import Midstream

/// Parts of a request as people type them: `name=text`, `name:=json`, `name==query`, `Name:header`, `name@file`.
struct RequestItems {
    private(set) var headers: HTTPHeaders = [:]
    private(set) var query: [(String, String)] = []
    private var fields: [(name: String, value: Value)] = []

    fileprivate enum Value {
        case text(String)
        /// A text that is JSON.
        case json(String)
        /// A file, or a text with the name or the type of one.
        case file(name: String?, type: String?, HTTPBody)

        init(fileAt path: String, name: String? = nil, type: String? = nil) throws {
            let name = name ?? URL(fileURLWithPath: path).lastPathComponent
            let usual = Self.usualType(of: name) ?? Self.usualType(of: path) ?? "application/octet-stream"
            self = .file(name: name, type: type ?? usual, try ValueSource.content(ofFileAt: path))
        }

        init(_ field: FormField) throws {
            if field.isFile {
                try self.init(fileAt: field.content, name: field.fileName, type: field.type)
            } else if field.type != nil || field.fileName != nil {
                let type = field.type ?? field.fileName.flatMap { Self.usualType(of: $0) }
                self = .file(name: field.fileName, type: type, .bytes(Array(field.content.utf8)))
            } else {
                self = .text(field.content)
            }
        }

        /// What curl takes files for.
        private static let types = [
            "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
            "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf", "xml": "application/xml",
        ]

        private static func usualType(of name: String) -> String? { types[URL(fileURLWithPath: name).pathExtension.lowercased()] }
    }

    /// What bodies are made of fields.
    enum Encoding { case json, form, multipart }

    private static let separators = [":=@", ":=", "==", "=@", "=", "@", ":"]

    /// Whether a word is an item: it has a separator, which doesn't begin it.
    static func isItem(_ word: String) -> Bool { parts(of: word) != nil }

    private static func parts(of word: String) -> (name: String, separator: String, value: String)? {
        for place in word.indices {
            for separator in separators where word[place...].hasPrefix(separator) {
                guard place > word.startIndex else { return nil }
                let value = word[word.index(place, offsetBy: separator.count)...]
                return (String(word[..<place]), separator, String(value))
            }
        }
        return nil
    }

    mutating func add(_ word: String, _ source: inout ValueSource) throws {
        guard let (name, separator, value) = Self.parts(of: word) else {
            throw UsageError("'\(word)' is no item: NAME=TEXT, NAME:=JSON, NAME==QUERY, NAME:HEADER or NAME@FILE")
        }
        switch separator {
        case "=": fields.append((name, .text(value)))
        case "=@": fields.append((name, .text(try source.text("@\(value)"))))
        case ":=": fields.append((name, .json(try Self.json(value, of: word))))
        case ":=@": fields.append((name, .json(try Self.json(source.text("@\(value)"), of: word))))
        case "==": query.append((name, try source.text(value)))
        case ":": headers.add(HTTPHeaders.Name(name), try source.text(value))
        default: fields.append((name, try Value(fileAt: value)))
        }
    }

    /// Takes a field of a form as curl writes it.
    mutating func add(formField word: String) throws {
        let field = try FormField(word)
        fields.append((field.name, try Value(field)))
    }

    /// - Parameter word: The item as it was typed. What its file holds may be a secret, and isn't shown.
    private static func json(_ text: String, of word: String) throws -> String {
        guard (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil else {
            throw UsageError("'\(word.escapingControls)' needs JSON")
        }
        return text
    }

    var hasFields: Bool { !fields.isEmpty }

    private var hasFiles: Bool { fields.contains { if case .file = $0.value { true } else { false } } }

    /// The body that the fields make; one with files is a multipart form.
    func body(_ encoding: Encoding) throws -> HTTPBody {
        switch hasFiles ? .multipart : encoding {
        case .multipart: return .multipart(try fields.map { name, value in try Self.part(name, value) })
        case .form: return .form(try fields.map { ($0, try Self.text($1, of: $0)) })
        case .json:
            var root: JSONNode = .object([:])
            for (name, value) in fields { try root.set(.value(value.object), at: JSONNode.path(name)[...], of: name) }
            let data = try JSONSerialization.data(withJSONObject: root.object, options: [.sortedKeys, .withoutEscapingSlashes])
            return .data(data).withContentType("application/json")
        }
    }

    private static func part(_ name: String, _ value: Value) throws -> MultipartForm.Part {
        if case .file(let fileName, let type, let content) = value {
            return .body(name, content, fileName: fileName, contentType: type)
        }
        return .field(name, try text(value, of: name))
    }

    private static func text(_ value: Value, of name: String) throws -> String {
        switch value {
        case .text(let text): return text
        case .json(let text): return value.object as? String ?? text
        case .file: throw UsageError("'\(name)' is a file, which takes a multipart form")
        }
    }
}

extension RequestItems.Value {
    /// As `JSONSerialization` has it.
    fileprivate var object: Any {
        switch self {
        case .text(let text): text
        case .json(let text):
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) ?? text
        case .file: ""
        }
    }
}

/// JSON that grows by one value at a path, such as `user[name]` or `ids[]`.
private enum JSONNode {
    case value(Any)
    case object([String: JSONNode])
    case array([JSONNode])

    /// `a[b][]` is `a`, `b` and an empty name, which adds to an array.
    static func path(_ name: String) throws -> [String] {
        guard let bracket = name.firstIndex(of: "["), bracket > name.startIndex else { return [name] }
        var (path, rest) = ([String(name[..<bracket])], name[bracket...])
        while !rest.isEmpty {
            guard rest.first == "[", let end = rest.firstIndex(of: "]") else { throw UsageError("'\(name)' lacks a bracket") }
            path.append(String(rest[rest.index(after: rest.startIndex)..<end]))
            rest = rest[rest.index(after: end)...]
        }
        return path
    }

    mutating func set(_ value: JSONNode, at path: ArraySlice<String>, of name: String) throws {
        guard let key = path.first else {
            self = value
            return
        }
        var empty: JSONNode { path.dropFirst().first.map { $0.isEmpty } == true ? .array([]) : .object([:]) }
        switch self {
        case .object(var members) where !key.isEmpty:
            var member = members[key] ?? empty
            try member.set(value, at: path.dropFirst(), of: name)
            members[key] = member
            self = .object(members)
        case .array(var elements) where key.isEmpty:
            var element = empty
            try element.set(value, at: path.dropFirst(), of: name)
            elements.append(element)
            self = .array(elements)
        default: throw UsageError("'\(name)' is an array in one place and an object in another")
        }
    }

    var object: Any {
        switch self {
        case .value(let value): value
        case .object(let members): members.mapValues(\.object)
        case .array(let elements): elements.map(\.object)
        }
    }
}
