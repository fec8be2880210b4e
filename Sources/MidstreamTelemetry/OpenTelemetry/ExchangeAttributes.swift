internal import Foundation
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
    /// The status as text, or the kind of failure; nil for a success and for what the caller cancelled.
    let error: String?
    let version: String?

    init(_ exchange: ExchangeRecord) {
        let origin = HTTPOrigin(exchange.url)
        (method, originalMethod) = Self.method(exchange.method)
        (address, port) = (origin?.host ?? "", origin?.port ?? 0)
        template = exchange.route.map(Self.path)
        status = exchange.status?.code
        if let failure = exchange.error {
            error = failure == "cancelled" ? nil : failure
        } else {
            error = exchange.status.flatMap { $0.code >= 400 ? "\($0.code)" : nil }
        }
        version = exchange.version.map { Self.version($0) }
    }

    var spanName: String {
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

    /// The path of a route.
    static func path(_ route: String) -> String {
        var path = route.prefix { $0 != "?" && $0 != "#" }
        if let scheme = path.firstRange(of: "://") {
            path = path[scheme.upperBound...].drop { $0 != "/" }
        }
        return path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    private static func version(_ version: HTTPVersion) -> String {
        switch version {
        case .http1_0: "1.0"
        case .http2: "2"
        case .http3: "3"
        default: "1.1"
        }
    }
}

/// An attribute's value.
enum AttributeValue: Hashable {
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case strings([String])

    init(_ value: EventValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .number(number)
        case .boolean(let flag): self = .boolean(flag)
        }
    }

    /// As OTLP has it in JSON: integers of 64 bits are texts.
    var json: JSONObject {
        var object = JSONObject()
        switch self {
        case .string(let text): object.add("stringValue", text)
        case .integer(let number): object.add("intValue", String(number))
        case .number(let number):
            object.begin("doubleValue")
            object.append(number)
        case .boolean(let flag): object.add("boolValue", flag)
        case .strings(let texts):
            var array = JSONObject()
            array.add("values", texts.map { AttributeValue.string($0).json })
            object.begin("arrayValue")
            object.append(raw: array)
        }
        return object
    }
}

/// Attributes in the order in which they were added.
struct AttributeList: Hashable {
    private(set) var all: [(name: String, value: AttributeValue)] = []

    mutating func add(_ name: String, _ value: String?) { if let value { all.append((name, .string(value))) } }
    mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        if let value { all.append((name, .integer(Int64(value)))) }
    }
    mutating func add(_ name: String, _ value: AttributeValue) { all.append((name, value)) }

    var json: [JSONObject] {
        all.map { name, value in
            var object = JSONObject()
            object.add("key", name)
            object.begin("value")
            object.append(raw: value.json)
            return object
        }
    }

    static func == (a: Self, b: Self) -> Bool { a.all.elementsEqual(b.all) { $0 == $1 } }

    func hash(into hasher: inout Hasher) {
        for (name, value) in all {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}
