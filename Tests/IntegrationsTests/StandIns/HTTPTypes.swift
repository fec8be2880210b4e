// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the examples use of swift-http-types 1.6, and no more.
public struct HTTPField: Sendable, Hashable {
    public struct Name: Sendable, Hashable {
        public let rawName: String
        public init?(_ name: String) {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }) else { return nil }
            rawName = name
        }
    }
    public enum DynamicTableIndexingStrategy: Sendable, Hashable { case automatic, prefer, avoid, disallow }
    public var name: Name
    public var value: String
    public var indexingStrategy = DynamicTableIndexingStrategy.automatic
    public init(name: Name, value: String) {
        self.name = name
        self.value = String(decoding: value.utf8.map { $0 < 0x20 && $0 != 9 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
    }
    public static func isValidValue(_ value: String) -> Bool { !value.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F } }
}
public struct HTTPFields: Sendable, RangeReplaceableCollection, MutableCollection, RandomAccessCollection {
    private var fields: [HTTPField] = []
    public init() {}
    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }
    public subscript(position: Int) -> HTTPField {
        get { fields[position] }
        set { fields[position] = newValue }
    }
    public subscript(name: HTTPField.Name) -> String? { fields.first { $0.name == name }?.value }
    public mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<HTTPField>) {
        fields.replaceSubrange(range, with: new)
    }
}
public struct HTTPRequest: Sendable {
    public struct Method: Sendable, Hashable {
        public let rawValue: String
        public init?(_ method: String) {
            guard !method.isEmpty, !method.contains(" ") else { return nil }
            rawValue = method
        }
        public static let get = Method("GET")!
        public static let put = Method("PUT")!
        public static let post = Method("POST")!
    }
    public var method: Method
    public var scheme: String?
    public var authority: String?
    public var path: String?
    public var headerFields: HTTPFields
    public init(method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = HTTPFields()) {
        (self.method, self.scheme, self.authority, self.path, self.headerFields) = (method, scheme, authority, path, headerFields)
    }
}
public struct HTTPResponse: Sendable {
    public struct Status: Sendable, Hashable {
        public let code: Int
        public init(code: Int, reasonPhrase: String = "") { self.code = code }
    }
    public var status: Status
    public var headerFields: HTTPFields
    public init(status: Status, headerFields: HTTPFields = HTTPFields()) {
        (self.status, self.headerFields) = (status, headerFields)
    }
}
