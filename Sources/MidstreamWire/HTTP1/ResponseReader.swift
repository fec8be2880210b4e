#if os(Linux)
    import Glibc
    internal import MidstreamCore
    internal import MidstreamLoop

    /// Finds the parts of a response in the bytes of a connection (RFC 9112).
    ///
    /// What it needs more of for the next part stays in the input, and is handed over again with what came after it.
    struct ResponseReader: ~Copyable {
        enum Part {
            /// The input isn't enough for the next part.
            case none
            /// A head: the status line and the fields, each with its line feed, and the empty line.
            case head(UnsafeRawBufferPointer, status: Int)
            /// So many bytes at the beginning of the input are of the body; ``take(_:)`` says how many were taken.
            case body(Int)
            /// A line of the trailers, with its line feed.
            case trailer(UnsafeRawBufferPointer)
            case end
            case violation(String)
        }

        /// How the body is framed (RFC 9112 §6.3).
        enum Framing: Equatable {
            case length(Int64)
            case chunked
            /// By the end of the connection.
            case connection
        }

        private enum State: Equatable {
            case head
            case length(Int64)
            case chunkSize
            case chunk(Int64)
            case chunkEnd
            case trailers
            case untilEnd
            case over
        }

        /// The longest extension of a chunk that is taken (RFC 9112 §7.1.1): 4 KiB.
        static let extensionLimit = 4 << 10
        /// The most digits of a chunk's size.
        static let sizeDigits = 16

        private var state = State.head
        /// How much of the input is known to hold no end of what is looked for.
        private var searched = 0

        /// Whether the end of the connection is the response's.
        var isEndedByConnection: Bool { state == .untilEnd }

        /// Says how the body after the final head is framed.
        mutating func begin(_ framing: Framing) {
            state =
                switch framing {
                case .length(let length): length == 0 ? .over : .length(length)
                case .chunked: .chunkSize
                case .connection: .untilEnd
                }
        }

        /// Makes ready for another response on the connection.
        mutating func reset() { (state, searched) = (.head, 0) }

        /// The next part; it is taken off the input, unless it is the body's.
        mutating func next(_ input: inout UnsafeRawBufferPointer) -> Part {
            while true {
                switch state {
                case .head: return nextHead(&input)
                case .length(let rest), .chunk(let rest): return bodyPart(input, atMost: rest)
                case .untilEnd: return bodyPart(input, atMost: .max)
                case .chunkSize:
                    if let part = readChunkSize(&input) { return part }
                case .chunkEnd:
                    guard input.count >= 2 else { return input.first ?? 13 == 13 ? .none : .violation(Self.badChunk) }
                    guard input[0] == 13, input[1] == 10 else { return .violation(Self.badChunk) }
                    input = UnsafeRawBufferPointer(rebasing: input[2...])
                    state = .chunkSize
                case .trailers: return nextTrailer(&input)
                case .over: return .end
                }
            }
        }

        /// Notes that so many bytes of the body were taken.
        mutating func take(_ count: Int) {
            switch state {
            case .length(let rest): state = rest == Int64(count) ? .over : .length(rest - Int64(count))
            case .chunk(let rest): state = rest == Int64(count) ? .chunkEnd : .chunk(rest - Int64(count))
            default: break
            }
        }

        private func bodyPart(_ input: UnsafeRawBufferPointer, atMost rest: Int64) -> Part {
            input.isEmpty ? .none : .body(Int(min(Int64(input.count), rest)))
        }

        // MARK: Heads

        private static let begin: StaticString = "HTTP/1."

        private mutating func nextHead(_ input: inout UnsafeRawBufferPointer) -> Part {
            guard let base = input.baseAddress else { return .none }
            let known = min(input.count, 7)
            guard memcmp(base, Self.begin.utf8Start, known) == 0 else {
                return .violation("The response doesn't begin with the status line of an HTTP/1 response.")
            }
            let end: Int
            switch endOfHead(base, input.count) {
            case .at(let place): end = place
            case .later:
                return input.count > HeadReader.sizeLimit ? .violation(HeadReader.Fault.tooLarge.message) : .none
            case .bareReturn: return .violation(Self.bareReturn)
            }
            guard end <= HeadReader.sizeLimit else { return .violation(HeadReader.Fault.tooLarge.message) }
            let head = UnsafeRawBufferPointer(start: base, count: end)
            guard let status = Self.status(head) else { return .violation("The status line of the response is malformed.") }
            guard memchr(base, 0, end) == nil else { return .violation("There is a zero byte in the head of the response.") }
            input = UnsafeRawBufferPointer(rebasing: input[end...])
            searched = 0
            return .head(head, status: status)
        }

        private enum EndOfHead {
            case at(Int)
            case later
            /// A line begins with a carriage return and isn't empty: some take it for the end, and others don't.
            case bareReturn
        }

        private static let badTrailer = "There is a bare carriage return or a zero byte in a trailer of the response."
        private static let bareReturn = "A line of the head or the trailers of the response begins with a bare carriage return."

        /// Where the empty line after the fields ends. A bare line feed ends a line, too (RFC 9112 §2.2).
        private mutating func endOfHead(_ base: UnsafeRawPointer, _ count: Int) -> EndOfHead {
            while let found = memchr(base + searched, 10, count - searched) {
                let feed = UnsafeRawPointer(found) - base
                let isFollowedByReturn = feed + 1 < count && base.load(fromByteOffset: feed + 1, as: UInt8.self) == 13
                let next = feed + (isFollowedByReturn ? 2 : 1)
                guard next < count else {
                    searched = feed
                    return .later
                }
                if base.load(fromByteOffset: next, as: UInt8.self) == 10 { return .at(next + 1) }
                guard !isFollowedByReturn else { return .bareReturn }
                searched = feed + 1
            }
            searched = count
            return .later
        }

        /// `HTTP/1.1 200 OK`; the reason may be missing, and its space with it (RFC 9112 §4).
        private static func status(_ head: UnsafeRawBufferPointer) -> Int? {
            guard head.count > 12, 48...57 ~= head[7], head[8] == 32 else { return nil }
            var status = 0
            for digit in head[9..<12] {
                guard 48...57 ~= digit else { return nil }
                status = status * 10 + Int(digit - 48)
            }
            guard status >= 100, head[12] == 32 || head[12] == 13 || head[12] == 10 else { return nil }
            return status
        }

        // MARK: Chunks

        private static let badChunk = "A chunk of the response's body is malformed."

        /// Nil when the next part can be looked for.
        private mutating func readChunkSize(_ input: inout UnsafeRawBufferPointer) -> Part? {
            guard let line = line(of: &input, limit: Self.sizeDigits + Self.extensionLimit + 2) else {
                return input.count > Self.sizeDigits + Self.extensionLimit + 2
                    ? .violation("The line of a chunk's size is too long.") : Part.none
            }
            guard line.count >= 2, line[line.count - 2] == 13 else { return .violation(Self.badChunk) }
            let text = line[..<(line.count - 2)]
            var size: UInt64 = 0
            var digits = 0
            for byte in text {
                guard let digit = byte.hexadecimalValue else { break }
                digits += 1
                guard digits <= Self.sizeDigits else { return .violation("The size of a chunk has too many digits.") }
                size = size << 4 | UInt64(digit)
            }
            guard digits > 0, size <= UInt64(Int64.max), Self.isExtension(text.dropFirst(digits)) else {
                return .violation(Self.badChunk)
            }
            state = size == 0 ? .trailers : .chunk(Int64(size))
            return nil
        }

        /// Nothing, or what follows a semicolon, which white space may come before.
        private static func isExtension(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
            guard let first = rest.first(where: { $0 != 32 && $0 != 9 }) else { return true }
            return first == 59 && !rest.contains { $0 == 13 || $0 == 0 } && rest.count <= extensionLimit
        }

        private mutating func nextTrailer(_ input: inout UnsafeRawBufferPointer) -> Part {
            guard let line = line(of: &input, limit: HeadReader.sizeLimit) else {
                return input.count > HeadReader.sizeLimit ? .violation(HeadReader.Fault.tooLarge.message) : .none
            }
            guard line[0] == 13 || line[0] == 10 else {
                let text = line.dropLast(line.count > 1 && line[line.count - 2] == 13 ? 2 : 1)
                return text.contains { $0 == 13 || $0 == 0 } ? .violation(Self.badTrailer) : .trailer(line)
            }
            guard line.count <= 2 else { return .violation(Self.bareReturn) }
            state = .over
            return .end
        }

        /// Takes a line off the input; nil when its end hasn't come or is too far away.
        private mutating func line(of input: inout UnsafeRawBufferPointer, limit: Int) -> UnsafeRawBufferPointer? {
            guard let base = input.baseAddress, let found = memchr(base + searched, 10, min(input.count, limit) - searched) else {
                searched = min(input.count, limit)
                return nil
            }
            let end = UnsafeRawPointer(found) - base + 1
            searched = 0
            input = UnsafeRawBufferPointer(rebasing: input[end...])
            return UnsafeRawBufferPointer(start: base, count: end)
        }
    }
#endif
