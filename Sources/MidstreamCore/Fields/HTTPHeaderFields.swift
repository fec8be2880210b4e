internal import MidstreamPlatform

extension HTTPHeaders: Sequence {
    private struct FieldIterator: IteratorProtocol {
        let bytes: [UInt8]
        private var position = 0

        init(_ headers: HTTPHeaders) { bytes = headers.bytes }

        mutating func next() -> (name: Name, value: String)? {
            let start = position
            let found: ((name: Name, value: String), end: Int)? = bytes.withUnsafeBufferPointer { all in
                FieldLine(in: all, at: start).map { (($0.name, String(fieldBytes: $0.value)), $0.end) }
            }
            guard let (field, end) = found else { return nil }
            position = end
            return field
        }
    }

    /// Iterates over the fields in order: the name of each as it was given, and its value.
    public func makeIterator() -> some IteratorProtocol<(name: Name, value: String)> { FieldIterator(self) }

    static let lineEnd = UInt8(ascii: "\n")
    static let nameEnd = UInt8(ascii: ":")

    /// Calls `body` with the bytes of each value of a name, in order, from a line on.
    func forEachValue(of name: Name, behind start: Int = 0, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        withLines(of: name, behind: start) { all, line in
            body(UnsafeBufferPointer(rebasing: all[(line.lowerBound + name.rawValue.utf8.count + 1)..<(line.upperBound - 1)]))
            return true
        }
    }

    /// Where the first field of a name is, line feed included.
    func firstLine(of name: Name) -> Range<Int>? {
        var first: Range<Int>?
        withLines(of: name) { _, line in
            first = line
            return false
        }
        return first
    }

    /// Calls `body` with each line of a name, line feed included, until it returns false.
    ///
    /// One byte rules out most lines: names hold no colon, so only after a name of this length is there one in its place.
    private func withLines(
        of name: Name, behind first: Int = 0, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) {
        var name = name.rawValue
        name.withUTF8 { name in
            bytes.withUnsafeBufferPointer { all in
                guard let base = all.baseAddress, !name.contains(Self.nameEnd) else { return }
                var start = first
                while start < all.count, let feed = memchr(base + start, Int32(Self.lineEnd), all.count - start) {
                    let end = UnsafeRawPointer(feed) - UnsafeRawPointer(base) + 1
                    let colon = start + name.count
                    if colon < end, all[colon] == Self.nameEnd {
                        var count = 0
                        while count < name.count, all[start + count].asciiLowercased == name[count].asciiLowercased { count += 1 }
                        if count == name.count, !body(all, start..<end) { return }
                    }
                    start = end
                }
            }
        }
    }

    /// Where the first field is that the closure accepts, line feed included.
    func firstLine(where matches: (FieldLine) -> Bool) -> Range<Int>? {
        bytes.withUnsafeBufferPointer { all in
            var position = 0
            while let line = FieldLine(in: all, at: position) {
                if matches(line) { return line.start..<line.end }
                position = line.end
            }
            return nil
        }
    }
}

/// Where the parts of one `name:value\n` are. It must not outlive the access to the bytes.
struct FieldLine {
    let start: Int
    let end: Int
    private let colon: Int
    private let bytes: UnsafeBufferPointer<UInt8>

    /// The line that begins at a place; nil at the end.
    init?(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
        guard start < bytes.count, let base = bytes.baseAddress,
            let colon = memchr(base + start, Int32(HTTPHeaders.nameEnd), bytes.count - start),
            let end = memchr(base + start, Int32(HTTPHeaders.lineEnd), bytes.count - start)
        else { return nil }
        self.bytes = bytes
        self.start = start
        self.colon = UnsafeRawPointer(colon) - UnsafeRawPointer(base)
        self.end = UnsafeRawPointer(end) - UnsafeRawPointer(base) + 1
    }

    var count: Int { end - start }

    var nameBytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[start..<colon]) }

    var name: HTTPHeaders.Name { HTTPHeaders.Name(String(decoding: bytes[start..<colon], as: UTF8.self)) }

    var value: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[(colon + 1)..<(end - 1)]) }

    func isNamed(_ name: HTTPHeaders.Name) -> Bool {
        name.rawValue.utf8.count == colon - start
            && nameBytes.elementsEqual(name.rawValue.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension HTTPHeaders {
    /// What stands between the semicolons of all `Cookie` fields, such as `a=b` (RFC 6265 §4.2.1).
    package var cookiePairs: [String] {
        values(.cookie).flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
            .map { String(Substring($0.trimmed)) }.filter { !$0.isEmpty }
    }

    /// Collects the lines of a message head as a transport receives them, without making strings.
    package struct FieldBuffer: ~Copyable, Sendable {
        fileprivate(set) var bytes: [UInt8] = []
        /// Whether the last line was left out, and its continuations have to be.
        private var isSkipping = false

        package init() {}

        package var isEmpty: Bool { bytes.isEmpty }

        /// Adds one line, `name: value`, with or without its line end. A line that begins with a space or tab continues the
        /// one before it (RFC 9112 §5.2). A line without a colon is left out, and one whose name holds a line end or a NUL.
        package mutating func append(line: UnsafeRawBufferPointer) {
            guard let first = line.first else { return }
            if bytes.isEmpty { bytes.reserveCapacity(512) }
            if first == 32 || first == 9 {
                guard !isSkipping, !bytes.isEmpty else { return }
                bytes.removeLast()
                bytes.append(32)
                appendCleaned(line[...])
            } else {
                let colon = line.firstIndex(of: HTTPHeaders.nameEnd) ?? 0
                // A name is refused rather than repaired (RFC 9110 §5.1): with its line feed it would be two fields here.
                isSkipping = colon == 0 || line[..<colon].contains { $0 == 13 || $0 == 10 || $0 == 0 }
                guard !isSkipping else { return }
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[...colon]))
                appendCleaned(line[(colon + 1)...])
            }
            bytes.append(HTTPHeaders.lineEnd)
        }

        private mutating func appendCleaned(_ value: Slice<UnsafeRawBufferPointer>) {
            // A bare CR or NUL inside a value is replaced by a space, as RFC 9110 §5.5 allows a recipient to do.
            let value = value.trimmed
            let place = bytes.count
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: value))
            guard value.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else { return }
            bytes.withUnsafeMutableBufferPointer { bytes in
                for place in place..<bytes.count where bytes[place] == 13 || bytes[place] == 10 || bytes[place] == 0 {
                    bytes[place] = 32
                }
            }
        }
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
    /// The bytes without spaces, tabs and line ends at either end.
    @inlinable
    package var trimmed: SubSequence {
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 || byte == 13 || byte == 10 }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}

extension String {
    /// The text of a field value: UTF-8 when it is that, ISO 8859-1 otherwise (what older servers meant by other bytes).
    package init(fieldBytes bytes: UnsafeBufferPointer<UInt8>) {
        // The code units of ISO 8859-1 are the first ones of UTF-16.
        self = String(utf8Bytes: bytes) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
    }

    /// nil when the bytes aren't UTF-8.
    init?(utf8Bytes bytes: UnsafeBufferPointer<UInt8>) {
        // Decoding repairs other bytes, which then differ. The failable initialiser needs newer systems.
        var text = String(decoding: bytes, as: UTF8.self)
        let isUTF8 = text.withUTF8 { text in
            guard text.count == bytes.count, let first = text.baseAddress, let second = bytes.baseAddress else {
                return bytes.isEmpty
            }
            return memcmp(first, second, bytes.count) == 0
        }
        guard isUTF8 else { return nil }
        self = text
    }
}
