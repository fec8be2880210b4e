#if os(Linux)
    /// Finds the parts of responses as ``WireResponses`` does, but all at once and as the grammar is written (RFC 9112), so that each can be
    /// held against the other.
    struct PlainResponses {
        typealias Part = WireResponses.Part

        private var rest: ArraySlice<UInt8>
        private var parts: [Part] = []

        static func parts(_ bytes: [UInt8]) -> [Part] {
            guard let first = bytes.first else { return [] }
            var responses = PlainResponses(rest: bytes.dropFirst())
            while responses.takeResponse(framing: first) {}
            return responses.parts
        }

        private init(rest: ArraySlice<UInt8>) { self.rest = rest }

        /// False at the end of what can be read.
        private mutating func takeResponse(framing: UInt8) -> Bool {
            while true {
                guard let status = takeHead() else { return false }
                if !(100..<200 ~= status) { break }
            }
            switch framing {
            case UInt8(ascii: "c"): guard takeChunks() else { return false }
            case UInt8(ascii: "e"): break
            case UInt8(ascii: "u"):
                body(rest.count)
                return false
            default:
                let count = min(Int(framing), rest.count)
                body(count)
                guard count == Int(framing) else { return false }
            }
            parts.append(.end)
            return true
        }

        private mutating func body(_ count: Int) {
            guard count > 0 else { return }
            if case .body(let before) = parts.last {
                parts[parts.count - 1] = .body(before + rest.prefix(count))
            } else {
                parts.append(.body(Array(rest.prefix(count))))
            }
            rest = rest.dropFirst(count)
        }

        private mutating func violate() -> Bool {
            parts.append(.violation)
            return false
        }

        /// A line with its line feed; nil when there is no line feed.
        private func line(from start: Int) -> ArraySlice<UInt8>? {
            rest[start...].firstIndex(of: 10).map { rest[start...$0] }
        }

        /// Nil when there is none, or none that can be read.
        private mutating func takeHead() -> Int? {
            let version = Array("HTTP/1.".utf8)
            guard rest.prefix(7).elementsEqual(version.prefix(rest.count)) else {
                _ = violate()
                return nil
            }
            guard var line = line(from: rest.startIndex) else { return nil }
            let first = Array(line)
            repeat {
                let after = rest[line.endIndex...].prefix(2)
                if after.count == 2, after.first == 13, after.last != 10 {
                    _ = violate()
                    return nil
                }
                guard let next = self.line(from: line.endIndex) else { return nil }
                line = next
            } while line != [10] && line != [13, 10]
            let head = Array(rest[..<line.endIndex])
            let code = first.dropFirst(9).prefix(3)
            guard first.count > 12, first[7] >= 48, first[7] <= 57, first[8] == 32, code.allSatisfy({ 48...57 ~= $0 }),
                code.first != 48, [32, 13, 10].contains(first[12]), !head.contains(0),
                let status = Int(String(decoding: code, as: UTF8.self))
            else {
                _ = violate()
                return nil
            }
            parts.append(.head(head, status: status))
            rest = rest[line.endIndex...]
            return status
        }

        /// True when the body has ended, with its trailers.
        private mutating func takeChunks() -> Bool {
            while true {
                guard let line = line(from: rest.startIndex) else { return false }
                guard let size = Self.size(line) else { return violate() }
                rest = rest[line.endIndex...]
                guard size > 0 else { break }
                let count = min(size, rest.count)
                body(count)
                guard count == size, !rest.isEmpty else { return false }
                guard rest.first == 13 else { return violate() }
                guard rest.count > 1 else { return false }
                guard rest[rest.startIndex + 1] == 10 else { return violate() }
                rest = rest.dropFirst(2)
            }
            while let line = line(from: rest.startIndex) {
                rest = rest[line.endIndex...]
                if line == [10] || line == [13, 10] { return true }
                let text = line.dropLast(line.suffix(2) == [13, 10] ? 2 : 1)
                if text.contains(13) || text.contains(0) { return violate() }
                parts.append(.trailer(Array(line)))
            }
            return false
        }

        /// `chunk-size [chunk-ext] CRLF`
        private static func size(_ line: ArraySlice<UInt8>) -> Int? {
            guard line.suffix(2) == [13, 10] else { return nil }
            let text = line.dropLast(2)
            let digits = text.prefix { Character(Unicode.Scalar($0)).isHexDigit }
            guard 1...16 ~= digits.count, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
            let rest = text.dropFirst(digits.count)
            guard let first = rest.first(where: { $0 != 32 && $0 != 9 }) else { return size }
            return first == UInt8(ascii: ";") && !rest.contains(13) && !rest.contains(0) ? size : nil
        }
    }
#endif
