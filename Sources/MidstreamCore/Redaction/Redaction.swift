internal import Foundation

/// What is withheld where records are shown, in descriptions, encodings, logs and archives, and in traces and explanations.
///
/// Always withheld are user and password of URLs, the values of fields that are secret (``HTTPHeaders/isSensitive(_:)``) and of query items,
/// form items and JSON fields with the usual names of secrets, such as `access_token`, `accessToken` or `password`, at any depth
/// (`user[password]`), and URLs in JSON that have such items. A redaction adds names of a program's own:
///
/// ```swift
/// let client = HTTPClient(configuration: .init(redaction: Redaction(headers: ["X-Session"], jsonFields: ["iban"])))
/// ```
///
/// Bodies are searched where their media type says JSON, by its subtype, or a form, and where a text begins as JSON does, as the data of an
/// event may; multipart forms are withheld as a whole, and other text is shown.
public struct Redaction: Sendable, Hashable {
    /// Names of header fields beside those that are secret.
    public var headers: Set<HTTPHeaders.Name>
    /// Names of items in queries, fragments and forms, also nested ones (`user[name]`, `user.name`), without regard to case. Of an item whose
    /// value is a URL with such an item the whole value is withheld.
    public var queryItems: Set<String> { didSet { queryItems = Self.lowercased(queryItems) } }
    /// Names of fields in JSON, at any depth, without regard to case.
    public var jsonFields: Set<String> { didSet { jsonFields = Self.lowercased(jsonFields) } }
    /// What stands in the place of a value; `‹withheld›` by default.
    public var mark: String

    /// The usual mark.
    public static let withheld = String.withheld

    /// Makes a redaction; without parameters it withholds what is always withheld.
    public init(
        headers: Set<HTTPHeaders.Name> = [], queryItems: Set<String> = [], jsonFields: Set<String> = [],
        mark: String = Redaction.withheld
    ) {
        self.headers = headers
        self.queryItems = Self.lowercased(queryItems)
        self.jsonFields = Self.lowercased(jsonFields)
        self.mark = mark
    }

    private static func lowercased(_ names: Set<String>) -> Set<String> { Set(names.map { $0.lowercased() }) }

    /// A URL, or a route, as it may be shown.
    public func url(_ text: String) -> String {
        var shown = URLText.redacted(text)
        if !queryItems.isEmpty {
            let secrets = SecretItems(queryItems)
            var parts = URLText(shown)
            parts.redactItems { secrets.withheld(in: $0) }
            shown = parts.text
        }
        return marked(shown)
    }

    /// A sentence, such as an error's description, without what this redaction alone withholds of the URLs in it.
    package func ownText(_ text: String) -> String {
        guard !queryItems.isEmpty, text.utf8.contains(UInt8(ascii: ":")) else { return text }
        // Any scheme would be looked for from each letter on to the end of its word, which a server may have made long. Of brackets a URL has
        // those around an IPv6 address alone. By scalars: a combining character behind a slash makes another `Character` of it.
        let urls = #/(?i:https?|wss?)://(?:[^\s\[\]<>"“”/?#]*@)?(?:\[[^\[\]\s/]*\])?[^\s\[\]<>"“”]*/#
        return text.replacing(urls.matchingSemantics(.unicodeScalar)) { url(String($0.output)) }
    }

    /// The method and the URL of a request as they may be shown in one line, whatever somebody has made of them.
    package func line(_ method: HTTPMethod, _ url: String) -> String { "\(method) \(self.url(url))".escapingControls }

    /// A field's value as it may be shown, its control characters escaped.
    ///
    /// - Parameter fields: The fields that it belongs to, which may have marked it as sensitive.
    public func value(_ value: String, of name: HTTPHeaders.Name, in fields: HTTPHeaders) -> String {
        if headers.contains(name) || fields.isSensitive(name) { return mark }
        return HTTPHeaders.shown(value, of: name, by: url).escapingControls
    }

    /// A text body as it may be shown; nil when it isn't text that can be searched: binary, or a multipart form.
    ///
    /// - Parameters:
    ///   - bytes: The body, or the beginning of it. A character that is cut off at its end is left out.
    ///   - contentType: What the `Content-Type` field says.
    public func text(_ bytes: [UInt8], contentType: String?) -> String? {
        Self.text(bytes).flatMap { shown($0, in: TextForm(contentType: contentType)) }
    }

    /// A text body as it may be shown in place of all of it: what isn't withheld is there to the byte. Nil also when it isn't UTF-8, or ends
    /// inside of a character.
    package func wholeText(_ bytes: [UInt8], contentType: String?) -> String? {
        let (text, form) = (String(decoding: bytes, as: UTF8.self), TextForm(contentType: contentType))
        guard text.utf8.elementsEqual(bytes), !bytes.contains(0) else { return nil }
        // A byte order mark would belong to the name of the first item, and no secret is called that.
        guard form != .items || !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { return nil }
        return shown(text, in: form)
    }

    private func shown(_ text: String, in form: TextForm) -> String? {
        switch form {
        case .items: items(text)
        case .json: json(text)
        // Both are also sent by other types: JSON by PHP unless it is told, items by logins of OAuth 1.0a.
        case .plain: Self.beginsAsJSON(text) ? json(text) : Self.beginsAsItems(text) ? items(text) : text
        // An error that is called a stream of events may be JSON. A line of those doesn't begin so.
        case .events where Self.beginsAsJSON(text) || !text.contains(where: \.isNewline) && Self.beginsAsItems(text):
            shown(text, in: .plain)
        case .events: EventsRedaction.redacted(text, mark: mark) { shown($0, in: .plain) ?? mark }
        case .unknown: nil
        }
    }

    private func items(_ text: String) -> String {
        marked(String(SecretItems(queryItems).withheld(in: URLText.redacted(items: text[...]))))
    }

    private func json(_ text: String) -> String { JSONRedaction.redacted(text, names: jsonFields, mark: mark, url: url) }

    private static func beginsAsJSON(_ text: String) -> Bool {
        // A byte order mark may stand before it.
        let first = text.utf8.first { !$0.isJSONSpace && ![0xEF, 0xBB, 0xBF].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    private static func beginsAsItems(_ text: String) -> Bool {
        let name = text.utf8.prefix { ASCIISet.unreserved.contains($0) }
        return !name.isEmpty && text.utf8.dropFirst(name.count).first == UInt8(ascii: "=")
    }

    private func marked(_ text: String) -> String {
        // In most texts nothing is withheld, and to look for its first byte costs a fraction of the search.
        guard mark != Self.withheld, let first = Self.withheld.utf8.first, text.utf8.contains(first) else { return text }
        return text.replacing(Self.withheld, with: mark)
    }

    /// The bytes as UTF-8 without a character that is cut off; nil when they are something else.
    private static func text(_ bytes: [UInt8]) -> String? {
        // The bytes that follow the first of a character begin with the bits 10.
        let tail = bytes.suffix(3).reversed().prefix { $0 & 0xC0 == 0x80 }.count
        for cut in [0, tail + 1] where cut <= bytes.count {
            if let text = String(bytes: bytes.dropLast(cut), encoding: .utf8), !text.utf8.contains(0) { return text }
        }
        return nil
    }
}

/// How secrets are told from the rest of a body, by what its `Content-Type` field says.
enum TextForm {
    /// By the names of items.
    case items
    /// By the names of fields.
    case json
    /// By that of each event's data.
    case events
    /// They aren't: it is text of any other kind.
    case plain
    /// They can't be: it may be binary, or have parts of any type.
    case unknown

    private static let namesOfJSON: Set<Substring> = ["json", "x-json", "ndjson", "x-ndjson", "jsonl"]

    init(contentType: String?) {
        let type = (contentType ?? "").prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        // Whatever stands before it: JSON is called text, too.
        let subtype = type.drop { $0 != "/" }.dropFirst()
        switch type {
        case "application/x-www-form-urlencoded": self = .items
        case "text/event-stream": self = .events
        case _ where Self.namesOfJSON.contains(subtype) || subtype.hasSuffix("+json"): self = .json
        case _ where type.hasPrefix("text/") || type.hasSuffix("xml") || type == "application/javascript": self = .plain
        default: self = .unknown
        }
    }
}
