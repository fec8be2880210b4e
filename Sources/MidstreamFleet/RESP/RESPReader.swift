/// Reads values of RESP2 from bytes as they come.
struct RESPReader {
    /// Why bytes are no reply; nothing after them can be read.
    struct Malformed: Error, Equatable {
        let reason: String
    }

    static let longestBulk = 8 << 20
    static let deepest = 4
    static let mostElements = 1_000_000
    /// Of all bulk strings of one reply.
    static let mostBytes = 64 << 20
    private static let longestLine = 64 << 10

    private struct Frame {
        var left: Int
        var values: [RESPValue] = []
    }

    private var buffer: [UInt8] = []
    private var place = 0
    /// Up to where no line has ended.
    private var searched = 0
    /// The length of the bulk string that is awaited.
    private var bulk: Int?
    /// The arrays that aren't complete yet, the innermost last.
    private var frames: [Frame] = []
    private var elements = 0
    private var bytes = 0

    /// Takes the next bytes.
    mutating func append(_ bytes: [UInt8]) {
        if place == buffer.count {
            buffer = bytes
            (place, searched) = (0, 0)
            return
        }
        // Moved at most once for each time that as much has been read.
        if place > buffer.count / 2 {
            buffer.removeFirst(place)
            searched = max(0, searched - place)
            place = 0
        }
        buffer += bytes
    }

    /// The next value; nil when it isn't all there.
    mutating func next() throws(Malformed) -> RESPValue? {
        while true {
            guard var value = try part() else { return nil }
            // A value may complete the array that it is in, and that one the next.
            while !frames.isEmpty {
                frames[frames.count - 1].values.append(value)
                frames[frames.count - 1].left -= 1
                guard frames[frames.count - 1].left == 0 else { break }
                value = .array(frames.removeLast().values)
            }
            if frames.isEmpty {
                (elements, bytes) = (0, 0)
                return value
            }
        }
    }

    /// The next value that is no array with elements; those are begun.
    private mutating func part() throws(Malformed) -> RESPValue? {
        while true {
            if let length = bulk {
                guard buffer.count - place >= length + 2 else { return nil }
                let end = place + length
                guard buffer[end] == UInt8(ascii: "\r"), buffer[end + 1] == UInt8(ascii: "\n") else {
                    throw Malformed(reason: "a string is longer than it says")
                }
                let content = Array(buffer[place..<end])
                bulk = nil
                place = end + 2
                searched = place
                return .bytes(content)
            }
            guard let line = try line() else { return nil }
            guard let kind = line.first else { throw Malformed(reason: "an empty line") }
            let rest = line.dropFirst()
            switch kind {
            case UInt8(ascii: "+"): return .text(String(decoding: rest, as: UTF8.self))
            case UInt8(ascii: "-"): return .error(String(decoding: rest, as: UTF8.self))
            case UInt8(ascii: ":"): return .integer(try Self.number(rest))
            case UInt8(ascii: "$"):
                let length = try Self.number(rest)
                if length == -1 { return .bytes(nil) }
                guard 0...Int64(Self.longestBulk) ~= length, bytes + Int(length) <= Self.mostBytes else {
                    throw Malformed(reason: "a string of \(length) bytes")
                }
                bytes += Int(length)
                bulk = Int(length)
            case UInt8(ascii: "*"):
                let count = try Self.number(rest)
                if count == -1 { return .array(nil) }
                guard 0...Int64(Self.mostElements) ~= count, elements + Int(count) <= Self.mostElements else {
                    throw Malformed(reason: "an array of \(count) elements")
                }
                guard frames.count < Self.deepest else { throw Malformed(reason: "arrays deeper than \(Self.deepest)") }
                elements += Int(count)
                if count == 0 { return .array([]) }
                frames.append(Frame(left: Int(count)))
            default: throw Malformed(reason: "a reply of an unknown kind")
            }
        }
    }

    private mutating func line() throws(Malformed) -> ArraySlice<UInt8>? {
        searched = max(searched, place)
        guard let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            guard buffer.count - place <= Self.longestLine else { throw Malformed(reason: "a line without an end") }
            searched = buffer.count
            return nil
        }
        guard end > place, buffer[end - 1] == UInt8(ascii: "\r") else { throw Malformed(reason: "a line feed alone") }
        guard end - place <= Self.longestLine else { throw Malformed(reason: "a line that is too long") }
        let line = buffer[place..<(end - 1)]
        place = end + 1
        searched = place
        return line
    }

    private static func number(_ digits: ArraySlice<UInt8>) throws(Malformed) -> Int64 {
        guard (1...20).contains(digits.count), let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw Malformed(reason: "a number that is none")
        }
        return number
    }
}
