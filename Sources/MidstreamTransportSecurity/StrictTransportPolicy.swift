internal import MidstreamCore

/// What a `Strict-Transport-Security` field says (RFC 6797 §6.1).
struct StrictTransportPolicy: Equatable {
    /// In seconds.
    let maximumAge: Int
    let includesSubdomains: Bool

    /// Longer lifetimes are taken for this: a century.
    private static let longest = 36_525 * 86_400

    /// Nil for a field that breaks the grammar, has a directive twice or lacks `max-age`: it says nothing then. Unknown directives are passed
    /// over.
    init?(_ field: String) {
        var rest = Array(field.utf8)[...]
        var seen: Set<String> = []
        var age: Int?
        var includesSubdomains = false
        while true {
            Self.skipSpace(&rest)
            let name = String(decoding: Self.takeToken(&rest), as: UTF8.self).lowercased()
            Self.skipSpace(&rest)
            var value: [UInt8]?
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                Self.skipSpace(&rest)
                guard !name.isEmpty, let taken = Self.takeValue(&rest) else { return nil }
                value = taken
                Self.skipSpace(&rest)
            }
            if !name.isEmpty {
                guard seen.insert(name).inserted else { return nil }
                switch name {
                case "max-age":
                    guard let value, !value.isEmpty, value.allSatisfy({ 48...57 ~= $0 }) else { return nil }
                    age = value.reduce(0) { min($0 * 10 + Int($1 - 48), Self.longest) }
                case "includesubdomains":
                    guard value == nil else { return nil }
                    includesSubdomains = true
                default: break
                }
            }
            guard let next = rest.popFirst() else { break }
            guard next == UInt8(ascii: ";") else { return nil }
        }
        guard let age else { return nil }
        maximumAge = age
        self.includesSubdomains = includesSubdomains
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == 32 || $0 == 9 }
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let token = rest.prefix { ASCIISet.token.contains($0) }
        rest = rest[token.endIndex...]
        return token
    }

    /// A token or a quoted string (RFC 9110 §5.6.4); nil for neither.
    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = takeToken(&rest)
            return token.isEmpty ? nil : Array(token)
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }
}
