internal import Platform

extension HTTPHeaders: Sequence {
    /// A field: its name as it was given, and its value.
    public typealias Element = (name: Name, value: String)

    /// Iterates over the fields in order.
    public struct Iterator: IteratorProtocol {
        private let bytes: [UInt8]
        private var position = 0

        init(_ headers: HTTPHeaders) { bytes = headers.bytes }

        /// The next field.
        public mutating func next() -> Element? {
            guard position < bytes.count, let line = FieldLine(in: bytes, at: position) else { return nil }
            position = line.end
            return bytes.withUnsafeBufferPointer { all in
                (
                    Name(String(decoding: all[line.start..<line.colon], as: UTF8.self)),
                    String(fieldBytes: UnsafeBufferPointer(rebasing: all[(line.colon + 1)..<(line.end - 1)]))
                )
            }
        }
    }

    /// Iterates over the fields in order.
    public func makeIterator() -> Iterator { Iterator(self) }

    static let lineEnd = UInt8(ascii: "\n")
    static let nameEnd = UInt8(ascii: ":")

    /// Calls `body` with the bytes of each value of a name, in order.
    func forEachValue(of name: Name, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var position = 0
        while let line = nextLine(of: name, from: position) {
            bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[(line.colon + 1)..<(line.end - 1)])) }
            position = line.end
        }
    }

    /// Where the first field of a name is, line feed included.
    func firstLine(of name: Name) -> Range<Int>? {
        nextLine(of: name, from: 0).map { $0.start..<$0.end }
    }

    private func nextLine(of name: Name, from start: Int) -> FieldLine? {
        var position = start
        while let line = FieldLine(in: bytes, at: position) {
            if line.isNamed(name, in: bytes) { return line }
            position = line.end
        }
        return nil
    }
}

/// Where the parts of one `name:value\n` are.
private struct FieldLine {
    let start: Int
    let colon: Int
    let end: Int

    init?(in bytes: [UInt8], at start: Int) {
        guard start < bytes.count else { return nil }
        let found: (Int, Int)? = bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress,
                let colon = memchr(base + start, Int32(HTTPHeaders.nameEnd), all.count - start),
                let end = memchr(base + start, Int32(HTTPHeaders.lineEnd), all.count - start)
            else { return nil }
            return (UnsafeRawPointer(colon) - base, UnsafeRawPointer(end) - base + 1)
        }
        guard let found else { return nil }
        self.start = start
        (colon, end) = found
    }

    func isNamed(_ name: HTTPHeaders.Name, in bytes: [UInt8]) -> Bool {
        let wanted = name.rawValue.utf8
        guard wanted.count == colon - start else { return false }
        var place = start
        for byte in wanted {
            guard byte.asciiLowercased == bytes[place].asciiLowercased else { return false }
            place += 1
        }
        return true
    }
}

extension HTTPHeaders {
    /// Collects the lines of a message head as a transport receives them, without making strings.
    package struct FieldBuffer: ~Copyable, Sendable {
        fileprivate(set) var bytes: [UInt8] = []

        package init() {}

        package var isEmpty: Bool { bytes.isEmpty }

        /// Adds one line, `name: value`, with or without its line end. A line that begins with a space or tab continues the
        /// one before it (RFC 9112 §5.2). A line without a colon is left out.
        package mutating func append(line: UnsafeRawBufferPointer) {
            guard let first = line.first else { return }
            if bytes.isEmpty { bytes.reserveCapacity(512) }
            if (first == 32 || first == 9), !bytes.isEmpty {
                bytes.removeLast()
                bytes.append(32)
                appendCleaned(line[...])
            } else {
                guard let colon = line.firstIndex(of: HTTPHeaders.nameEnd), colon > 0 else { return }
                bytes.append(contentsOf: line[..<colon])
                bytes.append(HTTPHeaders.nameEnd)
                appendCleaned(line[(colon + 1)...])
            }
            bytes.append(HTTPHeaders.lineEnd)
        }

        private mutating func appendCleaned(_ value: Slice<UnsafeRawBufferPointer>) {
            // A bare CR or NUL inside a value is replaced by a space, as RFC 9110 §5.5 allows a recipient to do.
            for byte in value.trimmed { bytes.append(byte == 13 || byte == 10 || byte == 0 ? 32 : byte) }
        }
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
    /// The bytes without spaces, tabs and line ends at either end.
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
        // Decoding repairs what isn't UTF-8, so that it differs then. The initialiser that says so needs newer systems.
        let text = String(decoding: bytes, as: UTF8.self)
        let isUTF8 = text.utf8.count == bytes.count && text.utf8.elementsEqual(bytes)
        self = isUTF8 ? text : String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }
}
