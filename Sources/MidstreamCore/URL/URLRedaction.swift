internal import Interception

extension URLText {
    /// The URL as it may be shown: without user and password, and without the values of items of query and fragment that are
    /// known to be secret, or that are URLs with such items.
    package static func redacted(_ text: String) -> String {
        guard text[...].withBytes(mayHoldSecret) else { return text }
        var parts = URLText(text)
        if parts.scheme == nil, parts.authority == nil, let slash = parts.path.utf8.firstIndex(of: UInt8(ascii: "/")),
            parts.path[..<slash].utf8.last == UInt8(ascii: ":"), parts.path[slash...].utf8.starts(with: "//".utf8)
        {
            // What stands for a scheme, such as a template's `{scheme}`, needn't be one.
            let start = parts.path[..<slash]
            parts.path = parts.path[slash...]
            return "\(start)\(redacted(parts.text))"
        }
        if let userInfo = parts.userInfo, !userInfo.isEmpty, let rest = parts.hostAndPort {
            parts.authority = "\(String.withheld)@\(rest)"
        } else if parts.mayHaveMisplacedPassword, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let start = parts.authority == nil ? "" : parts.scheme.map { "\($0)://" } ?? "//"
            return "\(start)\(String.withheld)@\(redacted(String(text[text.utf8.index(after: at)...])))"
        }
        parts.redactItems(by: redacted(items:))
        return parts.text
    }

    /// Changes the items of query and fragment.
    mutating func redactItems(by redact: (_ items: Substring) -> Substring) {
        query = query.map(redact)
        fragment = fragment.map { fragment -> Substring in
            // An application's own routes stand there, with items behind a `?` of theirs.
            guard let mark = fragment.utf8.firstIndex(of: UInt8(ascii: "?")) else { return redact(fragment) }
            let items = fragment.utf8.index(after: mark)
            return "\(redact(fragment[..<mark]))?\(redact(fragment[items...]))"
        }
    }

    /// Without taking the URL apart, since most hold none.
    private static func mayHoldSecret(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        if url.contains(UInt8(ascii: "@")) { return true }
        guard url.contains(UInt8(ascii: "=")) else { return false }
        var secrets = secretItems.withLock { $0 }
        let fragment = url.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let query = url[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        if secrets.first(in: url[query..<fragment].dropFirst()) != nil { return true }
        let route = url[fragment...].firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex
        return secrets.first(in: url[fragment..<route].dropFirst()) != nil || secrets.first(in: url[route...].dropFirst()) != nil
    }

    /// Whether a text with an `@` somewhere isn't the URL that was meant: `user:password@host` without a scheme, or a password
    /// with a `/`, `?` or `#`, which ends the authority, so that its beginning stands where the port should.
    private var mayHaveMisplacedPassword: Bool {
        if authority == nil { return scheme != nil }
        return portText?.utf8.contains { !(48...57 ~= $0) } == true
    }

    /// The same of the items of a query or a form.
    static func redacted(items: Substring) -> Substring { secretItems.withLock { $0 }.withheld(in: items) }

    /// Withholds the values of another query item in all URLs of the process from now on: they are shown in places that know no client.
    package static func treatAsSecret(item name: String) {
        secretItems.withLock { $0.insert(name) }
    }

    /// Whether the values of a query item are withheld.
    package static func isSecret(item name: String) -> Bool {
        var secrets = secretItems.withLock { $0 }
        return name.percentEncoded[...].withBytes { secrets.contains($0[...]) }
    }

    private static let secretItems = Locked(SecretItems(SecretItems.usual))

    /// Usual names of secrets in items and in JSON; programs join the words by nothing, `_` or `-`.
    static let secretWords = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "authorization", "assertion",
        "access token", "refresh token", "id token", "id token hint", "subject token", "actor token", "registration access token",
        "auth token", "bearer token", "session token", "csrf token", "xsrf token", "api token", "private token", "client secret",
        "client assertion", "code verifier", "device code", "client token", "secret id", "identity token", "api key",
        "token secret", "oauth token", "oauth token secret", "oauth verifier", "oauth signature", "consumer secret",
        "access key", "subscription key", "private key", "secret key", "secret access key", "aws secret access key",
        "user password", "old password", "current password", "new password", "confirm password", "password confirmation",
    ]
}

/// Names of query items whose values give access to something.
struct SecretItems {
    /// ASCII names in small letters: those of one length joined, by that length.
    private var names: [[UInt8]] = []
    /// The others, in small letters.
    private var otherNames: Set<String> = []
    /// What stands before the items of a URL.
    private static let separators = ASCIISet("?&#")
    /// Reused for decoded names.
    private var decoded: [UInt8] = []

    init(_ names: some Sequence<String>) { for name in names { insert(name) } }

    /// Those of any program.
    static var usual: [String] {
        let names = [
            "key", "sig", "signature", "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-amz-s3session-token",
            "awsaccesskeyid",
            "x-goog-signature", "x-goog-credential", "upload_id", "temp_url_sig", "x-oss-signature", "x-oss-credential",
            "x-oss-security-token", "q-signature", "code",
        ]
        return names + URLText.secretWords.flatMap { words in ["", "_", "-"].map { words.replacing(" ", with: $0) } }
    }

    mutating func insert(_ name: String) {
        let bytes = Array(name.lowercased().utf8)
        guard bytes.allSatisfy({ $0 < 128 }) else {
            otherNames.insert(name.lowercased())
            return
        }
        while names.count <= bytes.count { names.append([]) }
        if !hasName(bytes) { names[bytes.count] += bytes }
    }

    /// The items without the values of those with such a name, or with such an item in their value.
    func withheld(in items: Substring) -> Substring {
        let withheld = Array(String.withheld.utf8)
        let shown = items.withBytes { bytes -> String? in
            guard !(names.isEmpty && otherNames.isEmpty), bytes.contains(UInt8(ascii: "=")) else { return nil }
            var secrets = self
            var shown: [UInt8] = []
            var copied = 0
            while let (mark, end) = secrets.first(in: bytes[copied...]) {
                if copied == 0 { shown.reserveCapacity(bytes.count + bytes.count / 2) }
                shown.append(contentsOf: bytes[copied...mark])
                shown.append(contentsOf: withheld)
                copied = end
            }
            guard copied > 0 else { return nil }
            shown.append(contentsOf: bytes[copied...])
            return String(decoding: shown, as: UTF8.self)
        }
        return shown.map { $0[...] } ?? items
    }

    /// The places of the mark and of the end of the first item with such a name, or with such an item in its value; nil when there is none.
    mutating func first(in items: Slice<UnsafeBufferPointer<UInt8>>) -> (mark: Int, end: Int)? {
        var start = items.startIndex
        while start < items.endIndex {
            let end = items[start...].firstIndex(of: UInt8(ascii: "&")) ?? items.endIndex
            let mark = items[start..<end].firstIndex(of: UInt8(ascii: "="))
            if let mark, contains(items[start..<mark]) || isURLWithItem(items[(mark + 1)..<end]) { return (mark, end) }
            start = end + 1
        }
        return nil
    }

    /// Whether a value is a URL with an item among them, such as the one that a login should lead back to, however often it is encoded.
    private mutating func isURLWithItem(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard Self.mayHoldMark(value) else { return false }
        var text = Array(value)
        // Deeper than URLs are put into each other, and without an end that somebody else could put off.
        for _ in 0..<8 {
            let plain = text.percentDecoded()
            if plain.withUnsafeBufferPointer({ hasItem(in: $0) }) { return true }
            if plain == text { return false }
            text = plain
        }
        return false
    }

    private mutating func hasItem(in url: UnsafeBufferPointer<UInt8>) -> Bool {
        for item in url.split(omittingEmptySubsequences: false, whereSeparator: Self.separators.contains).dropFirst() {
            if let mark = item.firstIndex(of: UInt8(ascii: "=")), contains(item[..<mark]) { return true }
        }
        return false
    }

    /// Whether there is a `=`, or what may become one: `%3D` or, for what is encoded more often, `%25`. Most values have neither.
    private static func mayHoldMark(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        value.indices.contains { place in
            if value[place] == UInt8(ascii: "=") { return true }
            guard value[place] == UInt8(ascii: "%"), place + 2 < value.endIndex else { return false }
            let (high, low) = (value[place + 1], value[place + 2].asciiLowercased)
            return high == UInt8(ascii: "3") && low == UInt8(ascii: "d") || high == UInt8(ascii: "2") && low == UInt8(ascii: "5")
        }
    }

    /// Whether the name of an item is among them, however it is spelled, or nested in it.
    mutating func contains(_ item: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let plus = UInt8(ascii: "+")
        if item.allSatisfy({ $0 != UInt8(ascii: "%") && $0 != plus && $0 < 128 }) { return hasPart(item) }
        // It is a space in forms, and itself elsewhere.
        return contains(item, plusIsSpace: false) || item.contains(plus) && contains(item, plusIsSpace: true)
    }

    private mutating func contains(_ item: Slice<UnsafeBufferPointer<UInt8>>, plusIsSpace: Bool) -> Bool {
        decoded.removeAll(keepingCapacity: true)
        decoded.append(percentDecoded: UnsafeBufferPointer(rebasing: item), plusIsSpace: plusIsSpace)
        if hasPart(decoded) { return true }
        guard !otherNames.isEmpty else { return false }
        let name = String(decoding: decoded, as: UTF8.self).lowercased()
        return otherNames.contains(name)
            || name.utf8.split(whereSeparator: ASCIISet.nesting.contains).contains { otherNames.contains(String(Substring($0))) }
    }

    private func hasPart<Bytes: RandomAccessCollection>(_ item: Bytes) -> Bool where Bytes.Element == UInt8, Bytes.Index == Int {
        if hasName(item) || endsAsKey(item) { return true }
        guard item.contains(where: ASCIISet.nesting.contains) else { return false }
        return item.split(whereSeparator: ASCIISet.nesting.contains).contains { hasName($0) || endsAsKey($0) }
    }

    /// Services have keys of their own names, such as `exaApiKey`.
    private func endsAsKey<Bytes: BidirectionalCollection>(_ item: Bytes) -> Bool where Bytes.Element == UInt8 {
        guard item.last?.asciiLowercased == UInt8(ascii: "y") else { return false }
        return ["apikey", "api_key", "api-key"].contains { ending in
            item.suffix(ending.utf8.count).elementsEqual(ending.utf8, by: { $0.asciiLowercased == $1 })
        }
    }

    private func hasName<Bytes: RandomAccessCollection>(_ item: Bytes) -> Bool where Bytes.Element == UInt8, Bytes.Index == Int {
        guard !item.isEmpty, item.count < names.count else { return false }
        return names[item.count].withUnsafeBufferPointer { names in
            var start = 0
            while start < names.count {
                var same = 0
                while same < item.count, item[item.startIndex + same].asciiLowercased == names[start + same] { same += 1 }
                if same == item.count { return true }
                start += item.count
            }
            return false
        }
    }
}
