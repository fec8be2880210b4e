internal import MidstreamCore

/// The directives of `Cache-Control` (RFC 9111 §5.2), of a request or of a response.
///
/// Of a directive that comes twice the first counts (§4.2.1). Seconds that are no number make what depends on them 0, so that such a response
/// is stale; more than 2³¹ are 2³¹ (§1.2.2).
struct CacheControl: Sendable, Equatable {
    /// The flags.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16
        static let noStore = Flags(rawValue: 1)
        /// `no-cache` without field names.
        static let noCache = Flags(rawValue: 1 << 1)
        /// `private` without field names.
        static let isPrivate = Flags(rawValue: 1 << 2)
        static let isPublic = Flags(rawValue: 1 << 3)
        static let mustRevalidate = Flags(rawValue: 1 << 4)
        static let proxyRevalidate = Flags(rawValue: 1 << 5)
        static let mustUnderstand = Flags(rawValue: 1 << 6)
        static let immutable = Flags(rawValue: 1 << 7)
        static let onlyIfCached = Flags(rawValue: 1 << 8)
    }

    var flags: Flags = []
    var maxAge: Int?
    var sharedMaxAge: Int?
    var staleWhileRevalidate: Int?
    var staleIfError: Int?
    var minFresh: Int?
    /// The largest number when any staleness will do.
    var maxStale: Int?
    var noCacheFields: [HTTPHeaders.Name] = []
    var privateFields: [HTTPHeaders.Name] = []

    init() {}

    /// Reads all fields of a message.
    init(_ values: [String]) {
        for value in values { read(value) }
    }

    func contains(_ flag: Flags) -> Bool { flags.contains(flag) }

    /// The most seconds that a number counts as.
    static let longest = 1 << 31

    /// Digits, and nothing else.
    static func seconds(_ text: String?) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        var number = 0
        for byte in text.utf8 {
            guard 48...57 ~= byte else { return nil }
            number = min(number * 10 + Int(byte - 48), longest)
        }
        return number
    }

    /// Takes one directive, unless it has been taken before.
    ///
    /// - Parameter hasValue: Whether a `=` stood behind the name; the value is nil when nothing could be read behind it.
    mutating func take(_ name: String, hasValue: Bool, value: String?) {
        switch name {
        case "no-store": flags.insert(.noStore)
        case "no-cache": take(.noCache, fields: \.noCacheFields, value)
        case "private": take(.isPrivate, fields: \.privateFields, value)
        case "public": flags.insert(.isPublic)
        case "must-revalidate": flags.insert(.mustRevalidate)
        case "proxy-revalidate": flags.insert(.proxyRevalidate)
        case "must-understand": flags.insert(.mustUnderstand)
        case "immutable": flags.insert(.immutable)
        case "only-if-cached": flags.insert(.onlyIfCached)
        case "max-age": maxAge = maxAge ?? Self.seconds(value) ?? 0
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? Self.seconds(value) ?? 0
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(value) ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(value) ?? 0
        case "min-fresh": minFresh = minFresh ?? Self.seconds(value) ?? 0
        case "max-stale": maxStale = maxStale ?? (hasValue ? Self.seconds(value) ?? 0 : .max)
        default: break
        }
    }

    private mutating func take(_ flag: Flags, fields: WritableKeyPath<CacheControl, [HTTPHeaders.Name]>, _ value: String?) {
        let names = FieldNameList.names(in: value ?? "")
        // Without names, or with none that could be read, it is about the whole response.
        guard !names.isEmpty else { return flags = flags.union(flag) }
        self[keyPath: fields] += names
    }

    private mutating func read(_ text: String) {
        var scanner = FieldValueScanner(text)
        while true {
            scanner.skipSeparators(",")
            guard !scanner.isAtEnd else { return }
            guard let name = scanner.token() else {
                scanner.skip(to: ",")
                continue
            }
            var value: String?
            // No space may stand around the mark; a value that nobody can read isn't one.
            let hasValue = scanner.take("=")
            if hasValue, let part = scanner.quotedString() ?? scanner.token() {
                scanner.skipSpace()
                if scanner.isAtEnd || scanner.current == UInt8(ascii: ",") { value = scanner.text(part) }
            }
            take(scanner.lowercasedText(name), hasValue: hasValue, value: value)
            scanner.skip(to: ",")
        }
    }
}

/// Names of fields in a list, as `Vary`, `Connection` and some directives have them.
enum FieldNameList {
    static func names(in text: String) -> [HTTPHeaders.Name] {
        text.utf8.split(separator: UInt8(ascii: ",")).compactMap { part in
            let name = String(Substring(part.trimmed))
            return name.isToken ? HTTPHeaders.Name(name) : nil
        }
    }
}
