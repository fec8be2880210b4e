internal import Foundation
internal import MidstreamCore

/// Finds the parts of a JSON text (RFC 8259) without decoding it, so that they can be cut out byte for byte.
///
/// It sees to the structure and leaves it to the decoder whether each number and literal is one. It looks at each byte once, however
/// many steps a path has and however often they lead astray, and doesn't recurse, so that no depth of nesting can exhaust the stack.
struct JSONScanner {
    struct Malformed: Error {}

    /// What is at the end of a path.
    enum Finding: Equatable {
        case found(Range<Int>)
        /// How many steps lead somewhere, and what is there.
        case missing(depth: Int, kind: String)
    }

    private let bytes: UnsafeRawBufferPointer
    private let path: [JSONStep]
    private var position: Int
    /// What ends each of the open objects and arrays, the innermost last.
    private var closers: [UInt8] = []
    /// How many of these the path leads into; the first of them, since it can't lead out and in again.
    private var entered = 0
    /// The present place in each array that the path leads into.
    private var places: [Int]
    /// Where the value at the path's end begins, while it is open.
    private var start: Int?
    private var finding = Finding.missing(depth: 0, kind: "nothing")

    private init(_ bytes: UnsafeRawBufferPointer, _ path: [JSONStep]) {
        self.bytes = bytes
        self.path = path
        places = Array(repeating: 0, count: path.count)
        // A byte order mark may be ignored (RFC 8259 §8.1).
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Looks for a value. Of several members of the same name the last counts.
    ///
    /// - Throws: ``Malformed`` when the text isn't JSON.
    static func find(_ path: [JSONStep], in data: Data) throws -> Finding {
        try data.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes, path)
            try scanner.scan()
            return scanner.finding
        }
    }

    private mutating func scan() throws {
        var isOnPath = true
        while true {
            var isOver = try !beginValue(isOnPath: isOnPath)
            while isOver {
                guard let closer = closers.last else {
                    skipSpace()
                    guard current == nil else { throw Malformed() }
                    return
                }
                if take(",") {
                    if closer == UInt8(ascii: "]"), isInside { places[closers.count - 1] += 1 }
                    isOver = false
                } else {
                    guard takeByte(closer) else { throw Malformed() }
                    endContainer()
                }
            }
            isOnPath = try nextIsOnPath()
        }
    }

    /// Whether the path leads into the innermost object or array.
    private var isInside: Bool { entered == closers.count && entered <= path.count }

    /// Reads up to a member or element, and returns whether the path leads to it.
    private mutating func nextIsOnPath() throws -> Bool {
        let place = closers.count - 1
        guard closers[place] == UInt8(ascii: "}") else {
            guard isInside, case .index(let index) = path[place] else { return false }
            return index == places[place]
        }
        skipSpace()
        let name = try string()
        guard take(":") else { throw Malformed() }
        guard isInside, case .key(let key) = path[place] else { return false }
        return isKey(name, key)
    }

    /// Whether a name, which may be written with escapes (RFC 8259 §7, §8.3), is the key.
    ///
    /// - Parameter name: What stands between its quotes.
    private func isKey(_ name: Range<Int>, _ key: String) -> Bool {
        let (content, wanted) = (bytes[name], key.utf8)
        // An escape is at most six times as long as what it stands for, so most names needn't be looked at.
        guard content.count >= wanted.count, content.count <= 6 * wanted.count else { return false }
        guard content.contains(UInt8(ascii: "\\")) else { return content.elementsEqual(wanted) }
        let quoted = Data(bytes[(name.lowerBound - 1)...name.upperBound])
        return (try? JSONDecoder().decode(String.self, from: quoted))?.utf8.elementsEqual(wanted) == true
    }

    /// Reads a value, or the beginning of an object or an array that isn't empty: then members or elements follow, and it's true.
    private mutating func beginValue(isOnPath: Bool) throws -> Bool {
        skipSpace()
        guard let byte = current else { throw Malformed() }
        let first = position
        let steps = closers.count
        if isOnPath { finding = .missing(depth: steps, kind: Self.kind(of: byte)) }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isOnPath {
                if steps < path.count {
                    entered = steps + 1
                    places[steps] = 0
                } else {
                    start = first
                }
            }
            // The closing bracket is two characters behind the opening one in ASCII, for either kind.
            closers.append(byte + 2)
            position += 1
            guard takeByte(byte + 2) else { return true }
            endContainer()
            return false
        case UInt8(ascii: "\""): _ = try string()
        default: try scalar()
        }
        if isOnPath, steps == path.count { finding = .found(first..<position) }
        return false
    }

    private mutating func endContainer() {
        closers.removeLast()
        entered = min(entered, closers.count)
        if let first = start, closers.count == path.count {
            finding = .found(first..<position)
            start = nil
        }
    }

    /// What kind of value begins with a byte.
    private static func kind(of byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}

extension JSONScanner {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while current?.isJSONSpace == true { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool { takeByte(UInt8(ascii: character)) }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        skipSpace()
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// Skips a string, and gives what stands between its quotes.
    private mutating func string() throws -> Range<Int> {
        guard current == UInt8(ascii: "\"") else { throw Malformed() }
        position += 1
        let start = position
        while let byte = current {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<(position - 1) }
        }
        throw Malformed()
    }

    /// Skips a number or a literal.
    private mutating func scalar() throws {
        let start = position
        while let byte = current, !Self.endsScalar(byte) { position += 1 }
        guard position > start else { throw Malformed() }
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "{"),
            UInt8(ascii: "\""), 32, 9, 10, 13:
            true
        default: false
        }
    }
}
