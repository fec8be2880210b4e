internal import MidstreamCore

/// What `Vary` says (RFC 9110 §12.5.5).
struct VaryRule: Equatable {
    private(set) var isAny = false
    /// In small letters, in order, each once.
    private(set) var names: [String] = []

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.vary) else { return }
        var seen: Set<String> = []
        for value in headers.values(.vary) {
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = String(Substring(part.trimmed)).lowercased()
                if name == "*" { isAny = true }
                if !name.isEmpty { seen.insert(name) }
            }
        }
        // Nobody selects by so many; looking each up in each request would take its time.
        if seen.count > 64 { isAny = true } else { names = seen.sorted() }
    }
}

/// The fields of a request that its response was selected by (RFC 9111 §4.1), normalised; the values of secret ones as fingerprints.
struct SelectingFields: Sendable, Equatable {
    /// A value is nil where the request had no such field.
    struct Field: Sendable, Equatable {
        let name: String
        let value: String?
    }

    var fields: [Field]

    init(fields: [Field] = []) { self.fields = fields }

    init(_ names: [String], of headers: HTTPHeaders, fingerprint: Fingerprint) {
        fields = names.map { Field(name: $0, value: Self.value($0, of: headers, fingerprint)) }
    }

    /// Whether a request asks for what it selected.
    ///
    /// - Parameter response: The stored fields, whose language may be just the one that the request likes best.
    func match(_ headers: HTTPHeaders, response: HTTPHeaders, fingerprint: Fingerprint) -> Bool {
        fields.allSatisfy { field in
            if Self.value(field.name, of: headers, fingerprint) == field.value { return true }
            guard field.name == "accept-language", let language = response.values("Content-Language").first,
                let favourite = QualityList(headers.values(.acceptLanguage)).favourite
            else { return false }
            return favourite == language.lowercased()
        }
    }

    private static func value(_ name: String, of headers: HTTPHeaders, _ fingerprint: Fingerprint) -> String? {
        let key = HTTPHeaders.Name(name)
        let values = headers.values(key)
        guard !values.isEmpty else { return nil }
        if headers.isSensitive(key) { return fingerprint.text(of: values) }
        switch name {
        case "accept-language", "accept-encoding": return QualityList(values).normalized
        default: return withoutSpace(values)
        }
    }

    /// The members of a list without what stands around them; of a field that is no list whatever is left.
    private static func withoutSpace(_ values: [String]) -> String {
        if values.count == 1, !values[0].utf8.contains(UInt8(ascii: ",")) { return values[0] }
        return values.flatMap(members).joined(separator: ",")
    }

    /// What stands between the commas that stand in no quotes.
    private static func members(of value: String) -> [String] {
        var members: [String] = []
        var start = value.utf8.startIndex
        var isQuoted = false
        var isEscaped = false
        for place in value.utf8.indices {
            let byte = value.utf8[place]
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                members.append(String(Substring(value.utf8[start..<place].trimmed)))
                start = value.utf8.index(after: place)
            }
        }
        members.append(String(Substring(value.utf8[start...].trimmed)))
        return members
    }
}

/// A list of alternatives with their weights (RFC 9110 §12.4.2), such as languages: neither order nor case matters.
struct QualityList {
    /// In small letters, with thousandths.
    private var members: [(name: String, weight: Int)] = []

    init(_ values: [String]) {
        for value in values {
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let pieces = part.split(separator: UInt8(ascii: ";")).map { String(Substring($0.trimmed)).lowercased() }
                guard let name = pieces.first, !name.isEmpty else { continue }
                let quality = pieces.dropFirst().first { $0.utf8.starts(with: "q=".utf8) }
                members.append((name, quality.map { Self.weight($0.dropFirst(2)) } ?? 1000))
            }
        }
        members.sort { a, b in a.name == b.name ? a.weight < b.weight : a.name < b.name }
    }

    var normalized: String { members.map { "\($0.name);\($0.weight)" }.joined(separator: ",") }

    /// What is liked better than all others; nil when several are liked as well.
    var favourite: String? {
        guard let best = members.max(by: { $0.weight < $1.weight }), best.weight > 0,
            members.filter({ $0.weight == best.weight }).count == 1
        else { return nil }
        return best.name
    }

    private static func weight(_ text: Substring) -> Int {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.count == 1, let first = whole.first, 48...49 ~= first else { return 1000 }
        var thousandths = Int(first - 48) * 1000
        var scale = 100
        if parts.count > 1 {
            for byte in parts[1].prefix(3) {
                guard 48...57 ~= byte else { return 1000 }
                thousandths += Int(byte - 48) * scale
                scale /= 10
            }
        }
        return min(thousandths, 1000)
    }
}
