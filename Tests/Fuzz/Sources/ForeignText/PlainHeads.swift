#if os(Linux)
    /// Reads heads and trailers as ``ReceivedHeads`` does, but line by line and with what the standard library has, so that each can be
    /// held against the other.
    struct PlainHeads {
        private typealias Part = ReceivedHeads.Part
        private typealias Framing = ReceivedHeads.Framing

        private static let sizeLimit = 256 << 10
        private static let lineLimit = 1_000

        private var parts: [Part] = []
        /// The lines of the present head.
        private var head: [[UInt8]] = []
        private var interimLines = 0
        /// Those after the final head; nil before that.
        private var trailers: [[UInt8]]?
        private var trailerSize = 0

        static func parts(_ bytes: [UInt8]) -> [ReceivedHeads.Part] {
            var heads = PlainHeads()
            for line in lines(bytes) where !line.isEmpty { heads.take(line) }
            return heads.parts
        }

        private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
            if bytes.first == 0xFF { return bytes.dropFirst().split(separator: 0xFF).map { Array($0) } }
            var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) + [10] }
            // Nothing has ended the last.
            lines[lines.count - 1].removeLast()
            return lines
        }

        private mutating func take(_ line: [UInt8]) {
            if trailers != nil { return take(trailer: line) }
            guard head.reduce(0, { $0 + $1.count }) + line.count < Self.sizeLimit else { return refuse() }
            let isPlain = line.firstIndex(of: 10) == line.count - 1
            head.append(isPlain ? line : line.map { $0 == 10 ? 32 : $0 } + [10])
            guard head.count > 1, Self.isEmpty(line) else { return }
            let status = ReceivedHeads.status(head[0])
            let lines = head.dropFirst().map { Array($0.dropLast()) }.prefix { !$0.isEmpty && $0[0] != 13 }
            let isInterim = 100..<200 ~= status
            let left = Self.lineLimit - interimLines - (isInterim ? 1 : 0)
            guard lines.count <= left, status != 101, let fields = Self.fields(Array(lines)) else { return refuse() }
            parts.append(.head(status: status, fields: Self.bytes(fields), framing: Self.framing(fields)))
            head = []
            if isInterim { interimLines += lines.count + 1 } else { trailers = [] }
        }

        private mutating func take(trailer line: [UInt8]) {
            trailerSize += line.count
            guard trailerSize <= Self.sizeLimit, let lines = trailers else { return refuse() }
            if Self.isEmpty(line) {
                let done = parts + [.trailers(Self.bytes(Self.fields(lines) ?? []))]
                self = PlainHeads()
                parts = done
                return
            }
            guard lines.count < Self.lineLimit, Self.fields(lines + [line]) != nil else { return refuse() }
            trailers = lines + [line]
        }

        private mutating func refuse() {
            let done = parts + [.refused]
            self = PlainHeads()
            parts = done
        }

        private static func isEmpty(_ line: [UInt8]) -> Bool { line[0] == 13 || line[0] == 10 }

        private struct Field {
            var name: [UInt8]
            var value: [UInt8]
            /// Whether a folded line comes behind it, if not at once.
            var isBeforeFolded = false
        }

        /// Nil when there is a line that isn't of one (RFC 9112 §5).
        private static func fields(_ lines: [[UInt8]]) -> [Field]? {
            var fields: [Field] = []
            for line in lines {
                if line[0] == 32 || line[0] == 9 {
                    guard !fields.isEmpty else { return nil }
                    fields[fields.count - 1].value += [32] + clean(line[...])
                    for place in fields.indices { fields[place].isBeforeFolded = true }
                } else {
                    guard let colon = line.firstIndex(of: 58), colon > 0, line[..<colon].allSatisfy({ $0 > 32 && $0 != 127 })
                    else { return nil }
                    fields.append(Field(name: Array(line[..<colon]), value: clean(line[(colon + 1)...])))
                }
            }
            return fields
        }

        private static func clean(_ value: ArraySlice<UInt8>) -> [UInt8] {
            let isSpace = { (byte: UInt8) in [32, 9, 13, 10].contains(byte) }
            var value = value.drop(while: isSpace)
            while let last = value.last, isSpace(last) { value.removeLast() }
            return value.map { [13, 10, 0].contains($0) ? 32 : $0 }
        }

        private static func bytes(_ fields: [Field]) -> [UInt8] { fields.flatMap { $0.name + [58] + $0.value + [10] } }

        private static func framing(_ fields: [Field]) -> [Framing] {
            ["content-length", "content-encoding", "transfer-encoding"].map { name in
                let found = fields.filter { String(decoding: $0.name, as: UTF8.self).lowercased() == name }
                guard let only = found.first else { return .absent }
                guard found.count == 1, !only.isBeforeFolded else { return .odd }
                let isNumber = 1...18 ~= only.value.count && only.value.allSatisfy { 48...57 ~= $0 }
                return .once(value: only.value, number: isNumber ? Int64(String(decoding: only.value, as: UTF8.self)) : nil)
            }
        }
    }
#endif
