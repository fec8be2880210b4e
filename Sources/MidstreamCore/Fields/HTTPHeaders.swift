/// The header fields of a message (RFC 9110 §5): ordered, duplicates kept, names compared without regard to case.
///
/// A name that isn't a token, and a value with CR, LF or NUL, is never stored: the name is remembered, and sending the request
/// fails with ``HTTPError/Code/invalidRequest``. Values are trimmed of leading and trailing spaces and tabs.
///
/// The fields are kept as the bytes of a message head, so that a whole head is one allocation, however many fields it has, and
/// strings are made on demand. Values that aren't UTF-8 are read as ISO 8859-1 and sent back unchanged.
public struct HTTPHeaders: Sendable {
    /// `name:value\n` for each field. Since neither part may hold a line feed and names hold no colon, it reads unambiguously.
    package private(set) var bytes: [UInt8] = []
    /// Data that few messages have, in one word so that copies of the others stay cheap.
    private var marks: Marks?

    private final class Marks: Sendable {
        /// Names beyond ``Name/isSensitive`` whose values are secret here.
        let sensitive: [Name]
        /// Names of fields that were refused.
        let refused: [Name]

        init?(sensitive: [Name], refused: [Name]) {
            guard !sensitive.isEmpty || !refused.isEmpty else { return nil }
            (self.sensitive, self.refused) = (sensitive, refused)
        }
    }

    private(set) var sensitiveNames: [Name] {
        get { marks?.sensitive ?? [] }
        set { marks = Marks(sensitive: newValue, refused: refused) }
    }

    /// The names whose fields were refused, for the error that sending throws.
    package private(set) var refused: [Name] {
        get { marks?.refused ?? [] }
        set { marks = Marks(sensitive: sensitiveNames, refused: newValue) }
    }

    /// No fields.
    public init() {}

    /// Takes over a head that a transport has collected.
    package init(_ buffer: consuming FieldBuffer) { bytes = buffer.bytes }

    /// Takes over lines in the form of ``bytes``.
    package init(lines: [UInt8]) { bytes = lines }

    /// The first field's value, or the values of all fields of that name joined by `, ` (RFC 9110 §5.3).
    ///
    /// Setting replaces all fields of the name with one, in the place of the first; setting nil removes them. `Set-Cookie`
    /// values can't be joined without loss: use ``values(_:)`` for them.
    public subscript(name: Name) -> String? {
        get {
            guard let first = firstLine(of: name) else { return nil }
            let own = (first.lowerBound + name.rawValue.utf8.count + 1)..<(first.upperBound - 1)
            var joined: [UInt8] = []
            forEachValue(of: name, behind: first.upperBound) { value in
                if joined.isEmpty { joined = Array(bytes[own]) }
                joined.append(UInt8(ascii: ","))
                joined.append(UInt8(ascii: " "))
                joined.append(contentsOf: value)
            }
            if joined.isEmpty {
                return bytes.withUnsafeBufferPointer { String(fieldBytes: UnsafeBufferPointer(rebasing: $0[own])) }
            }
            // One value may be UTF-8 where another isn't.
            return joined.withUnsafeBufferPointer { String(utf8Bytes: $0) } ?? values(name).joined(separator: ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            guard Self.isAcceptable(name, newValue) else {
                remove(name)
                refused.append(name)
                return
            }
            if marks != nil { accept { $0 == name } }
            guard let first = firstLine(of: name) else { return append(name, newValue) }
            let after = HTTPHeaders(line: name, newValue)
            remove(name)
            bytes.insert(contentsOf: after.bytes, at: first.lowerBound)
        }
    }

    /// Adds a field after those that there are.
    public mutating func add(_ name: Name, _ value: String) {
        guard Self.isAcceptable(name, value) else {
            refused.append(name)
            return
        }
        append(name, value)
    }

    /// The values of all fields of a name, in order.
    public func values(_ name: Name) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append(String(fieldBytes: $0)) }
        return values
    }

    /// The members of all fields of a name as one list without quotes (RFC 9110 §5.6.1); empty ones are left out.
    package func members(of name: Name) -> [String] {
        var scanner = FieldValueScanner(self[name] ?? "")
        var members: [String] = []
        while let member = scanner.member(of: ",") { members.append(scanner.text(member)) }
        return members
    }

    /// Whether there is a field of that name.
    public func contains(_ name: Name) -> Bool { firstLine(of: name) != nil }

    /// Removes all fields of a name.
    public mutating func remove(_ name: Name) {
        if marks != nil { accept { $0 == name } }
        // Unchanged fields aren't copied.
        if let first = firstLine(of: name) { removeLines(from: first) { $0.isNamed(name) } }
    }

    /// Removes all fields whose names the closure wants gone, in one pass.
    package mutating func removeAll(where isUnwanted: (Name) -> Bool) {
        removeAll({ isUnwanted($0.name) }, refused: isUnwanted)
    }

    mutating func removeAll(_ isUnwanted: (FieldLine) -> Bool, refused isRefusedUnwanted: (Name) -> Bool) {
        if marks != nil { accept(isRefusedUnwanted) }
        // Unchanged fields aren't copied.
        if let first = firstLine(where: isUnwanted) { removeLines(from: first, where: isUnwanted) }
    }

    /// Removes a line, and later ones that the closure accepts, in one pass that moves the others to the front.
    private mutating func removeLines(from first: Range<Int>, where isUnwanted: (FieldLine) -> Bool) {
        let kept = bytes.withUnsafeMutableBufferPointer { all in
            guard let base = all.baseAddress else { return 0 }
            var kept = first.lowerBound
            var position = first.upperBound
            while let line = FieldLine(in: UnsafeBufferPointer(all), at: position) {
                position = line.end
                guard !isUnwanted(line) else { continue }
                (base + kept).update(from: base + line.start, count: line.count)
                kept += line.count
            }
            return kept
        }
        bytes.removeSubrange(kept...)
    }

    /// Marks the values of a name as secret: they appear nowhere but on the wire, and a redirect to another origin drops them.
    ///
    /// The usual ones (``Name/isSensitive``) needn't be marked.
    public mutating func markSensitive(_ name: Name) {
        guard !isSensitive(name) else { return }
        sensitiveNames.append(name)
    }

    /// Whether the values of a name are secret.
    public func isSensitive(_ name: Name) -> Bool {
        name.isSensitive || sensitiveNames.contains(name)
    }

    /// Removes fields that must not go to another origin: secrets, and `Host`, which names the old one.
    package mutating func removeCredentials() {
        let marked = self
        removeAll { marked.isSensitive($0) || $0 == .host }
    }

    /// Whether there is no field.
    public var isEmpty: Bool { bytes.isEmpty }

    /// How many fields there are.
    public var count: Int { bytes.lazy.filter { $0 == Self.lineEnd }.count }

    /// Adds those fields of `defaults` whose names aren't here yet, and takes over its sensitive names.
    package mutating func merge(defaults: HTTPHeaders) {
        guard !defaults.isEmpty || defaults.marks != nil else { return }
        guard !isEmpty || marks != nil else {
            self = defaults
            return
        }
        let own = self
        for (name, value) in defaults where !own.contains(name) { append(name, value) }
        guard defaults.marks != nil else { return }
        for name in defaults.sensitiveNames { markSensitive(name) }
        refused += defaults.refused.filter { !own.contains($0) }
    }

    /// Whether both are unchanged copies of the same fields; costs no comparison of their contents.
    func isIdentical(to other: HTTPHeaders) -> Bool {
        marks === other.marks && bytes.count == other.bytes.count
            && bytes.withUnsafeBufferPointer { a in other.bytes.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress } }
    }

    /// Forgets refusals.
    private mutating func accept(_ isAccepted: (Name) -> Bool) {
        if !refused.isEmpty { refused.removeAll(where: isAccepted) }
    }

    private static func isAcceptable(_ name: Name, _ value: String) -> Bool {
        name.rawValue.isToken && !value[...].withBytes { $0.contains { $0 == 13 || $0 == 10 || $0 == 0 } }
    }

    private init(line name: Name, _ value: String) { append(name, value) }

    private mutating func append(_ name: Name, _ value: String) {
        let needed = bytes.count + name.rawValue.utf8.count + value.utf8.count + 2
        // `reserveCapacity` reserves exactly that much, so that each of many fields would move all those before it.
        if needed > bytes.capacity { bytes.reserveCapacity(bytes.isEmpty ? needed : Swift.max(needed, 2 * bytes.count)) }
        bytes.append(contentsOf: name.rawValue.utf8)
        bytes.append(Self.nameEnd)
        value[...].withBytes { bytes.append(contentsOf: $0.trimmed) }
        bytes.append(Self.lineEnd)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The listed fields, in order; a repeated name makes a repeated field.
    public init(dictionaryLiteral elements: (Name, String)...) {
        for (name, value) in elements { add(name, value) }
    }
}

extension HTTPHeaders: Hashable {
    /// Whether the fields are the same, in the same order, names compared without regard to case, values byte by byte.
    public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool {
        a.bytes == b.bytes
            || (a.bytes.count == b.bytes.count
                && a.elementsEqual(b) { $0.name == $1.name && $0.value.hasSameBytes(as: $1.value) })
    }

    /// Hashes the bytes that `==` compares, without the bit for the case of letters.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                hasher.combine(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) | 0x2020_2020_2020_2020)
                place += 8
            }
            for byte in bytes[place...] { hasher.combine(byte | 0x20) }
        }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A line for each field, secret values withheld and control characters escaped.
    public var description: String {
        map { "\($0.name.rawValue.escapingControls): \(shown($0.value, of: $0.name))" }.joined(separator: "\n")
    }

    /// A value as it may be shown: withheld when it is secret, a URL without the secrets in it, control characters escaped.
    func shown(_ value: String, of name: Name) -> String {
        isSensitive(name) ? .withheld : Self.shown(value, of: name, by: URLText.redacted).escapingControls
    }

    /// A value with its URLs as a function shows them.
    static func shown(_ value: String, of name: Name, by url: (String) -> String) -> String {
        if namesOfURLs.contains(name) || ["http", "https", "ws", "wss"].contains(URLText(value).scheme?.lowercased()) {
            return url(value)
        }
        if name == "Sec-WebSocket-Protocol", holdsCredential(protocols: value) { return .withheld }
        guard name == .link else { return value }
        // Each for itself, since one may seem to be a part of the query before it: targets end with `>`, anchors with a quotation mark.
        return value.replacing(#/<([^>]*)|[^<"]+/#.matchingSemantics(.unicodeScalar)) { piece in
            piece.1.map { "<" + url(String($0)) } ?? url(String(piece.0))
        }
    }

    /// Whether one of the protocols of a WebSocket is a credential: pages can set no other field of its upgrade, so that services take one
    /// there. Names of protocols are shorter, as a rule.
    package static func holdsCredential(protocols: String) -> Bool {
        protocols.utf8.split(separator: UInt8(ascii: ",")).contains { $0.trimmed.count >= 40 }
    }

    private static let namesOfURLs: Set<Name> = [.location, .contentLocation, .referer]

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the fields with secret values withheld, so that a dump prints none.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: description.split(separator: "\n").map(String.init), displayStyle: .collection)
    }
}
