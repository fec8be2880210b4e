#if os(Linux)
    import Glibc

    /// The fields of a head, made in one pass over its lines, and what they say about the body.
    ///
    /// A name is followed by its colon at once (RFC 9112 §5): recipients that differ in this may differ in the body's length, too. A
    /// folded line (§5.2) continues a field.
    package struct ReceivedFields {
        /// A field that frames or encodes the body, or says how long the connection stands.
        package enum Framing: Equatable {
            case absent
            /// Where the value of the only one is in ``bytes``.
            case once(Range<Int>)
            /// Several, or one that was folded.
            case odd
        }

        /// In the form of ``HTTPHeaders/bytes``.
        package private(set) var bytes: [UInt8] = []
        package private(set) var contentLength = Framing.absent
        package private(set) var contentEncoding = Framing.absent
        package private(set) var transferEncoding = Framing.absent
        package private(set) var connection = Framing.absent
        package private(set) var keepAlive = Framing.absent
        /// How many lines there are.
        package private(set) var count = 0

        /// - Parameter lines: Each ends with its only line feed. The empty one at their end may be missing.
        package init(_ lines: UnsafeRawBufferPointer, limit: Int) throws(HeadReader.Fault) {
            guard let base = lines.baseAddress, !lines.isEmpty else { return }
            var fault: HeadReader.Fault?
            var fields = self
            let bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: lines.count) { room in
                guard let output = room.baseAddress else { return [UInt8]() }
                var (start, end) = (0, 0)
                while fault == nil, let feed = memchr(base + start, 10, lines.count - start) {
                    let lineEnd = UnsafeRawPointer(feed) - base
                    let line = UnsafeRawBufferPointer(rebasing: lines[start..<lineEnd])
                    start = lineEnd + 1
                    guard let first = line.first, first != 13 else { break }
                    fault = fields.append(line, startsWith: first, to: output, &end)
                    fields.count += 1
                    if fault == nil, fields.count > limit { fault = .tooManyFields }
                }
                return [UInt8](UnsafeBufferPointer(rebasing: room[..<end]))
            }
            if let fault { throw fault }
            self = fields
            self.bytes = bytes
        }

        /// Adds a line without its line feed. What is written is never longer than what was read.
        @inline(__always)
        private mutating func append(
            _ line: UnsafeRawBufferPointer, startsWith first: UInt8, to output: UnsafeMutablePointer<UInt8>, _ end: inout Int
        ) -> HeadReader.Fault? {
            if first == 32 || first == 9 {
                guard end > 0 else { return .foldedFirst }
                // In place of the line feed.
                output[end - 1] = 32
                copyValue(line, to: output, &end)
                // It may have been one of these that was continued.
                if case .once = contentLength { contentLength = .odd }
                if case .once = contentEncoding { contentEncoding = .odd }
                if case .once = transferEncoding { transferEncoding = .odd }
                if case .once = connection { connection = .odd }
                if case .once = keepAlive { keepAlive = .odd }
                return nil
            }
            guard let input = line.baseAddress, let found = memchr(input, 58, line.count) else { return .notAField }
            let colon = UnsafeRawPointer(found) - input
            guard colon > 0 else { return .notAField }
            for place in 0..<colon where line[place] <= 32 || line[place] == 127 { return .notAField }
            memcpy(output + end, input, colon + 1)
            let name = UnsafeBufferPointer(start: output + end, count: colon)
            end += colon + 1
            let start = end
            copyValue(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]), to: output, &end)
            switch colon {
            case 10 where name.isFieldName("connection"): Self.note(&connection, start..<(end - 1))
            case 10 where name.isFieldName("keep-alive"): Self.note(&keepAlive, start..<(end - 1))
            case 14 where name.isFieldName("content-length"): Self.note(&contentLength, start..<(end - 1))
            case 16 where name.isFieldName("content-encoding"): Self.note(&contentEncoding, start..<(end - 1))
            case 17 where name.isFieldName("transfer-encoding"): Self.note(&transferEncoding, start..<(end - 1))
            default: break
            }
            return nil
        }

        /// Copies what isn't white space at either end, and a line feed. A bare CR or NUL inside becomes a space, as RFC 9110 §5.5 allows
        /// a recipient to do.
        @inline(__always)
        private func copyValue(_ value: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>, _ end: inout Int) {
            var first = 0
            var last = value.count
            while first < last, Self.isSpace(value[first]) { first += 1 }
            while last > first, Self.isSpace(value[last - 1]) { last -= 1 }
            if first < last, let input = value.baseAddress {
                let count = last - first
                let copy = output + end
                memcpy(copy, input + first, count)
                if memchr(copy, 13, count) != nil || memchr(copy, 0, count) != nil {
                    for place in 0..<count where copy[place] == 13 || copy[place] == 0 { copy[place] = 32 }
                }
                end += count
            }
            output[end] = 10
            end += 1
        }

        @inline(__always)
        private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }

        private static func note(_ field: inout Framing, _ value: Range<Int>) {
            if case .absent = field { field = .once(value) } else { field = .odd }
        }

        /// Whether the only value of a field is a token, which is given in small letters.
        package func has(_ field: Framing, _ token: StaticString) -> Bool {
            guard case .once(let place) = field, place.count == token.utf8CodeUnitCount else { return false }
            return bytes.withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: $0[place]).isFieldName(token) }
        }

        /// The number that digits at a place mean; nil when there is anything else, or so many that they might be too many.
        package func number(at place: Range<Int>) -> Int64? {
            guard 1...18 ~= place.count else { return nil }
            var number: Int64 = 0
            for digit in bytes[place] {
                guard 48...57 ~= digit else { return nil }
                number = number * 10 + Int64(digit - 48)
            }
            return number
        }
    }

    extension UnsafeBufferPointer<UInt8> {
        /// - Parameter known: As long, and in small letters; a field's name has no control characters.
        package func isFieldName(_ known: StaticString) -> Bool {
            for place in 0..<count where self[place] | 0x20 != known.utf8Start[place] { return false }
            return true
        }
    }
#endif
