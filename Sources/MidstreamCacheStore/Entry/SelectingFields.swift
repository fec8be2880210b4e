package import MidstreamCore

/// The names in `Vary` (RFC 9110 §12.5.5).
package struct VaryRule: Equatable {
    package private(set) var isAny = false
    /// In small letters, in order, each once; none when it varies by anything.
    package private(set) var names: [String] = []

    /// By how many fields a response may be selected, and how many names are read to find them out. Nobody needs as many, and looking
    /// each up in each request would take its time.
    private static let (mostNames, mostMembers) = (64, 1024)

    package init(_ headers: HTTPHeaders) { self.init(headers.values(.vary)) }

    /// The names of the fields that a response is selected by. One that is encoded would have come decoded to a request without
    /// `Accept-Encoding`, or with another, whether its server varies by that or not.
    package func selecting(isEncoded: Bool) -> [String] {
        isEncoded && !names.contains("accept-encoding") ? (names + ["accept-encoding"]).sorted() : names
    }

    /// - Parameter values: Those of all its fields.
    package init(_ values: [String]) {
        guard !values.isEmpty else { return }
        var seen: Set<String> = []
        var members = 0
        for value in values {
            var scanner = FieldValueScanner(value)
            while let member = scanner.member(of: ",") {
                let name = scanner.lowercasedText(member)
                seen.insert(name)
                members += 1
                guard name != "*", seen.count <= Self.mostNames, members <= Self.mostMembers else {
                    isAny = true
                    return
                }
            }
        }
        names = seen.sorted()
    }
}

/// The fields of a request that its response was selected by (RFC 9111 §4.1), normalised; the values of secret ones as fingerprints.
package struct SelectingFields: Sendable, Equatable {
    /// A value is nil where the request had no such field.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }

        package static func == (a: Field, b: Field) -> Bool { a.name == b.name && a.holds(b.value) }

        /// By bytes, as servers compare.
        fileprivate func holds(_ other: String?) -> Bool {
            switch (value, other) {
            case (nil, nil): true
            case (let value?, let other?): value.hasSameBytes(as: other)
            default: false
            }
        }
    }

    package var fields: [Field]

    package init(fields: [Field] = []) { self.fields = fields }

    package init(_ names: [String], of headers: HTTPHeaders, fingerprint: Fingerprint) {
        fields = names.map { Field(name: $0, value: Self.value($0, of: headers, fingerprint)) }
    }

    /// Whether a request asks for what it selected.
    ///
    /// - Parameter response: The stored fields, whose language may be just the one that the request likes best.
    package func match(_ headers: HTTPHeaders, response: HTTPHeaders, fingerprint: Fingerprint) -> Bool {
        fields.allSatisfy { field in
            if field.holds(Self.value(field.name, of: headers, fingerprint)) { return true }
            guard field.name == "accept-language", let language = response.values("Content-Language").first,
                let favourite = QualityList(headers.values(.acceptLanguage))?.favourite
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
        case "accept-language", "accept-encoding": return QualityList(values)?.normalized ?? withoutSpace(values)
        default: return withoutSpace(values)
        }
    }

    /// The members of a list without the space around them; of a field that is no list whatever is left.
    private static func withoutSpace(_ values: [String]) -> String {
        if values.count == 1, !values[0].utf8.contains(UInt8(ascii: ",")) { return values[0] }
        var list: [UInt8] = []
        list.reserveCapacity(values.reduce(0) { $0 + $1.utf8.count + 1 })
        for (place, value) in values.enumerated() {
            if place > 0 { list.append(UInt8(ascii: ",")) }
            append(value, to: &list)
        }
        return String(decoding: list, as: UTF8.self)
    }

    /// Adds a value without the space around those of its commas that stand in no quotes.
    private static func append(_ value: String, to list: inout [UInt8]) {
        var start = list.count
        var isQuoted = false
        var isEscaped = false
        for byte in value.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                removeSpace(from: start, of: &list)
                list.append(byte)
                start = list.count
                continue
            }
            if list.count > start || !isSpace(byte) { list.append(byte) }
        }
        removeSpace(from: start, of: &list)
    }

    private static func removeSpace(from start: Int, of list: inout [UInt8]) {
        while list.count > start, let last = list.last, isSpace(last) { list.removeLast() }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}

/// A list of alternatives with their weights (RFC 9110 §12.4.2), such as languages: neither order nor case matters.
package struct QualityList {
    /// In small letters, with thousandths.
    private var members: [(name: String, weight: Int)] = []

    /// How many members one may have: putting more in order would take its time, and nobody has as many to choose from.
    private static let most = 64

    /// Nil when it has more members than anybody chooses from.
    package init?(_ values: [String]) {
        for value in values {
            var scanner = FieldValueScanner(value)
            while let member = scanner.member(of: ",") {
                guard members.count < Self.most else { return nil }
                var parts = FieldValueScanner(scanner.lowercasedText(member))
                if let name = parts.member(of: ";") { members.append((parts.text(name), Self.weight(&parts))) }
            }
        }
        members.sort { a, b in a.name == b.name ? a.weight < b.weight : a.name < b.name }
    }

    package var normalized: String { members.map { "\($0.name);\($0.weight)" }.joined(separator: ",") }

    /// What is liked better than all others; nil when several are liked as well.
    package var favourite: String? {
        guard let best = members.max(by: { $0.weight < $1.weight }), best.weight > 0,
            members.filter({ $0.weight == best.weight }).count == 1
        else { return nil }
        return best.name
    }

    /// That of the first `q` of the parameters.
    private static func weight(_ parts: inout FieldValueScanner) -> Int {
        while true {
            parts.skipSeparators(";")
            guard !parts.isAtEnd else { return 1000 }
            if parts.take("q"), parts.take("=") { return parts.member(of: ";").map { weight(parts.text($0)) } ?? 1000 }
            _ = parts.member(of: ";")
        }
    }

    private static func weight(_ text: String) -> Int {
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
