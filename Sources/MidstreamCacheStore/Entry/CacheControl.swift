package import MidstreamCore

/// The directives of `Cache-Control` (RFC 9111 §5.2), of a request or of a response.
///
/// Of a directive that comes twice the first counts (§4.2.1). Seconds that are no number make what depends on them 0, so that such a response
/// is stale; more than 2³¹ are 2³¹ (§1.2.2).
package struct CacheControl: Sendable, Equatable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let noStore = Flags(rawValue: 1)
        /// `no-cache` without field names.
        package static let noCache = Flags(rawValue: 1 << 1)
        /// `private` without field names.
        package static let isPrivate = Flags(rawValue: 1 << 2)
        package static let isPublic = Flags(rawValue: 1 << 3)
        package static let mustRevalidate = Flags(rawValue: 1 << 4)
        package static let proxyRevalidate = Flags(rawValue: 1 << 5)
        package static let mustUnderstand = Flags(rawValue: 1 << 6)
        package static let immutable = Flags(rawValue: 1 << 7)
        package static let onlyIfCached = Flags(rawValue: 1 << 8)
    }

    package var flags: Flags = []
    package var maxAge: Int?
    package var sharedMaxAge: Int?
    package var staleWhileRevalidate: Int?
    package var staleIfError: Int?
    package var minFresh: Int?
    /// Infinite when any staleness will do, even one that nobody knows.
    package var maxStale: Double?
    package var noCacheFields: [HTTPHeaders.Name] = []
    package var privateFields: [HTTPHeaders.Name] = []

    package init() {}

    /// Whether it is about no fields of their own.
    package var namesNoFields: Bool { noCacheFields.isEmpty && privateFields.isEmpty }

    /// Reads all fields of a message.
    package init(_ values: [String]) {
        for value in values { read(FieldValueScanner(value)) }
    }

    package func contains(_ flag: Flags) -> Bool { flags.contains(flag) }

    /// The most seconds that a number counts as (RFC 9111 §1.2.2), where an `Int` holds them.
    package static let longest = Int(clamping: 1 << 31 as Int64)

    /// Digits, and nothing else.
    package static func seconds(_ text: String?) -> Int? {
        text.flatMap { ByteNumber.read($0.utf8) }.map { min(Int(clamping: $0), longest) }
    }

    /// Takes one directive, unless it has been taken before.
    ///
    /// - Parameter hasValue: Whether a `=` stood behind the name; the value is nil when nothing could be read behind it.
    package mutating func take(_ name: String, hasValue: Bool, value: String?) {
        switch name {
        case "no-store": flags.insert(.noStore)
        case "no-cache": if !Self.add(value, to: &noCacheFields) { flags.insert(.noCache) }
        case "private": if !Self.add(value, to: &privateFields) { flags.insert(.isPrivate) }
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
        case "max-stale": maxStale = maxStale ?? (hasValue ? Double(Self.seconds(value) ?? 0) : .infinity)
        default: break
        }
    }

    /// How many names of fields are taken apart from the whole response at most, so that nobody has to look for thousands.
    private static let mostNames = 64

    /// Adds the names that a directive lists; false when it is about the whole response: without names, with none that could be read,
    /// and with more than anybody lists.
    private static func add(_ value: String?, to fields: inout [HTTPHeaders.Name]) -> Bool {
        let names = value.flatMap { FieldNameList.names(in: $0, upTo: mostNames - fields.count) } ?? []
        fields += names
        return !names.isEmpty
    }

    /// How long the names of directives are.
    private static let nameLengths = "public".utf8.count..."stale-while-revalidate".utf8.count

    /// Reads one more field.
    package mutating func read(_ value: UnsafeBufferPointer<UInt8>) { read(FieldValueScanner(value)) }

    private mutating func read(_ scanner: FieldValueScanner) {
        var scanner = scanner
        while true {
            scanner.skipSeparators(",")
            guard !scanner.isAtEnd else { return }
            guard let name = scanner.token(), Self.nameLengths.contains(name.count) else {
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

/// Names of fields in a list, as `Connection` and some directives have them.
package enum FieldNameList {
    /// What isn't a name is passed over; nil when there are more than the limit.
    package static func names(in text: String, upTo limit: Int = .max) -> [HTTPHeaders.Name]? {
        var names: [HTTPHeaders.Name] = []
        var scanner = FieldValueScanner(text)
        while let member = scanner.member(of: ",") {
            guard scanner.isToken(member) else { continue }
            guard names.count < limit else { return nil }
            names.append(HTTPHeaders.Name(scanner.text(member)))
        }
        return names
    }
}
