internal import MidstreamCore

/// What OpenTelemetry's conventions for HTTP clients (v1.44.0) call what is known of an exchange.
struct ExchangeAttributes {
    /// `_OTHER` for methods that are unknown there.
    let method: String
    let originalMethod: String?
    let address: String
    let port: Int
    let template: String?
    let status: Int?
    /// The status as text, or the kind of failure; nil for a success and for what the caller cancelled before an answer came.
    let error: String?
    let version: String?

    init(_ exchange: ExchangeRecord, error unknown: String?) {
        let origin = HTTPOrigin(exchange.url)
        (method, originalMethod) = Self.method(exchange.method)
        (address, port) = (origin?.host ?? "", origin?.port ?? 0)
        template = exchange.route.map(Self.path)
        status = exchange.status?.code
        // Who leaves while the body of an answer arrives makes no other answer of it.
        if let failure = exchange.error ?? unknown, failure != "cancelled" {
            error = failure
        } else {
            error = exchange.status.flatMap { $0.code >= 400 ? "\($0.code)" : nil }
        }
        version = exchange.version.map { String($0.rawValue.dropFirst("HTTP/".count)) }
    }

    static func spanName(_ method: String, _ template: String?) -> String {
        let method = method == "_OTHER" ? "HTTP" : method
        return template.map { "\(method) \($0)" } ?? method
    }

    /// RFC 9110's, PATCH and QUERY.
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    static func method(_ method: HTTPMethod) -> (String, original: String?) {
        methods.contains(method.rawValue) ? (method.rawValue, nil) : ("_OTHER", method.rawValue)
    }

    static func path(_ route: String) -> String {
        let query = route.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        var path = route[..<(query ?? route.endIndex)]
        if let authority = authority(of: path) { path = path[authority.upperBound...] }
        return path.utf8.first == UInt8(ascii: "/") ? String(path) : "/\(path)"
    }

    /// Where user, host and port stand in an absolute URL.
    static func authority(of url: Substring) -> Range<Substring.Index>? {
        var text = url
        // By its bytes, since this is asked of each call.
        let places = text.withUTF8 { bytes -> Range<Int>? in
            let slash = UInt8(ascii: "/")
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.count, bytes[colon + 1] == slash,
                bytes[colon + 2] == slash
            else { return nil }
            let end = bytes[(colon + 3)...].firstIndex { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            return (colon + 3)..<(end ?? bytes.count)
        }
        func index(_ place: Int) -> Substring.Index { url.utf8.index(url.startIndex, offsetBy: place) }
        return places.map { index($0.lowerBound)..<index($0.upperBound) }
    }

    /// The beginning of an absolute URL, up to its path.
    static func origin(of url: String) -> Substring {
        url[..<(authority(of: url[...])?.upperBound ?? url.startIndex)]
    }
}

extension EventValue {
    /// Writes it as OTLP has it in JSON: integers of 64 bits are texts.
    fileprivate func write(to json: inout JSONObject) {
        switch inJSON {
        case .string(let text):
            json.append(raw: #"{"stringValue":"#)
            json.append(quoted: text)
        case .integer(let number):
            json.append(raw: #"{"intValue":""#)
            json.append(number)
            json.append(raw: "\"")
        case .number(let number):
            json.append(raw: #"{"doubleValue":"#)
            json.append(number)
        case .boolean(let flag): json.append(raw: flag ? #"{"boolValue":true"# : #"{"boolValue":false"#)
        }
        json.append(raw: "}")
    }
}

/// Attributes in the order in which they were added.
struct AttributeList: Hashable {
    struct Attribute: Hashable {
        let name: String
        let value: EventValue
    }

    private(set) var all: [Attribute] = []

    mutating func add(_ name: String, _ value: String?) { if let value { add(name, .string(value)) } }
    mutating func add(_ name: String, _ value: (some BinaryInteger)?) { if let value { add(name, .integer(Int64(value))) } }
    mutating func add(_ name: String, _ value: EventValue) { all.append(Attribute(name: name, value: value.inJSON)) }
}

extension JSONObject {
    /// Attributes as they are written by ``attribute(_:_:)``.
    mutating func addAttributes(_ write: (inout JSONObject) -> Void) {
        begin("attributes")
        append(raw: "[")
        write(&self)
        append(raw: "]")
    }

    mutating func add(_ attributes: AttributeList) {
        addAttributes { json in for attribute in attributes.all { json.attribute(attribute.name, attribute.value) } }
    }

    /// One more, of a name that needs no escaping.
    mutating func attribute(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        separate()
        append(raw: #"{"key":""#)
        append(raw: name)
        append(raw: #"","value":{"stringValue":"#)
        append(quoted: value)
        append(raw: "}}")
    }

    mutating func attribute(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        separate()
        append(raw: #"{"key":""#)
        append(raw: name)
        append(raw: #"","value":{"intValue":""#)
        append(value)
        append(raw: #""}}"#)
    }

    mutating func attribute(_ name: String, _ value: EventValue) { attribute(name) { value.write(to: &$0) } }

    mutating func attribute(_ name: String, texts: [String]) {
        attribute(name) { json in
            json.append(raw: #"{"arrayValue":{"#)
            json.add("values", each: texts) { EventValue.string($1).write(to: &$0) }
            json.append(raw: "}}")
        }
    }

    private mutating func attribute(_ name: String, _ write: (inout JSONObject) -> Void) {
        separate()
        append(raw: #"{"key":"#)
        append(quoted: name)
        append(raw: #","value":"#)
        write(&self)
        append(raw: "}")
    }
}
