internal import MidstreamCore

/// What a `Strict-Transport-Security` field says (RFC 6797 §6.1).
struct StrictTransportPolicy: Equatable {
    /// In seconds.
    let maximumAge: Int64
    let includesSubdomains: Bool

    /// Longer lifetimes are taken for this: a century.
    private static let longest: Int64 = 36_525 * 86_400

    /// Nil for a field that breaks the grammar, has a directive twice or lacks `max-age`: it says nothing then. Unknown directives are passed
    /// over.
    init?(_ field: String) {
        var scanner = FieldValueScanner(field)
        var seen: Set<String> = []
        var age: Int64?
        var includesSubdomains = false
        scanner.skipSeparators(";")
        while !scanner.isAtEnd {
            guard let directive = scanner.parameter() else { return nil }
            if directive.hasMark {
                guard let value = directive.value, !scanner.isOpen(value) else { return nil }
            }
            let name = scanner.lowercasedText(directive.name)
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "max-age":
                guard let value = directive.value.map(scanner.text)?.utf8, !value.isEmpty, value.allSatisfy({ 48...57 ~= $0 })
                else { return nil }
                age = value.reduce(0) { min($0 * 10 + Int64($1 - 48), Self.longest) }
            case "includesubdomains":
                guard !directive.hasMark else { return nil }
                includesSubdomains = true
            default: break
            }
            scanner.skipSpace()
            guard scanner.isAtEnd || scanner.current == UInt8(ascii: ";") else { return nil }
            scanner.skipSeparators(";")
        }
        guard let age else { return nil }
        maximumAge = age
        self.includesSubdomains = includesSubdomains
    }
}
