package import MidstreamCore

/// Reads the requests of one connection, one after the other, whatever the boundaries of what arrives.
package struct RequestReader {
    package struct Body {
        package var bytes: [UInt8] = []
        package var length = 0
        package var trailers: HTTPHeaders?
    }

    private let socket: Socket
    private let maximumHead: Int
    private let maximumBody: Int
    private let keptBody: Int
    private let deadline: ContinuousClock.Instant?
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameters:
    ///   - maximumHead: The length of a head or of trailers past which they are answered with 431.
    ///   - maximumBody: The length of a body past which it is answered with 413.
    ///   - keptBody: How many bytes of a body are kept.
    ///   - deadline: When to give up reading; nil: never.
    package init(
        _ socket: Socket, maximumHead: Int = 64 << 10, maximumBody: Int = 0, keptBody: Int = 0,
        deadline: ContinuousClock.Instant? = nil
    ) {
        self.socket = socket
        self.maximumHead = maximumHead
        self.maximumBody = maximumBody
        self.keptBody = keptBody
        self.deadline = deadline
    }

    /// The next head; nil when the client has closed its side instead of sending one.
    package mutating func head() throws -> RequestHead? {
        // Empty lines before a request are to be passed over (RFC 9112 §2.2).
        var skipped = 0
        while true {
            if start == buffer.count, try !fill() { return nil }
            guard buffer[start] == 13 || buffer[start] == 10 else { break }
            start += 1
            skipped += 1
            guard skipped <= 16 else { throw Rejection("Too many empty lines before the request.") }
        }
        return try RequestHead(lines(upTo: maximumHead))
    }

    /// The lines up to an empty one, without it. Copies, so that none keeps the buffer it came in.
    private mutating func lines(upTo limit: Int) throws -> [[UInt8]] {
        var (lines, left) = ([[UInt8]](), limit)
        while true {
            let line = try Array(line(upTo: left, else: Rejection(431, "The head is longer than \(limit) bytes.")))
            if line.isEmpty { return lines }
            lines.append(line)
            left -= line.count + 2
        }
    }

    /// Reads a body; one that isn't kept is thrown away, however long it is.
    package mutating func body(_ framing: RequestHead.Framing, isKept: Bool) throws -> Body {
        var body = Body()
        switch framing {
        case .none: break
        case .length(let length):
            try check(length, isKept: isKept)
            try read(length, into: &body, isKept: isKept)
        case .chunked:
            while let size = try chunkSize() {
                try check(body.length + size, isKept: isKept)
                try read(size, into: &body, isKept: isKept)
                guard try chunkLine(upTo: 2).isEmpty else { throw Rejection("A chunk is longer than its size says.") }
            }
            body.trailers = try RequestHead.fields(lines(upTo: maximumHead)[...])
        }
        return body
    }

    private func check(_ length: Int, isKept: Bool) throws {
        guard isKept, length > maximumBody else { return }
        throw Rejection(.contentTooLarge, "The body is longer than the server's limit of \(maximumBody) bytes.")
    }

    private mutating func read(_ count: Int, into body: inout Body, isKept: Bool) throws {
        var missing = count
        while missing > 0 {
            if start == buffer.count, try !fill() { throw ConnectionEnded() }
            let part = buffer[start...].prefix(missing)
            if isKept { body.bytes += part.prefix(max(0, keptBody - body.bytes.count)) }
            body.length += part.count
            missing -= part.count
            start += part.count
        }
    }

    /// The size of the next chunk; nil for the last one (RFC 9112 §7.1).
    private mutating func chunkSize() throws -> Int? {
        let digits = try chunkLine(upTo: 4 << 10).prefix { $0 != UInt8(ascii: ";") && $0 != 32 && $0 != 9 }
        guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ $0.hexadecimalValue != nil }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Rejection("A chunk's size isn't a hexadecimal number.") }
        return size == 0 ? nil : size
    }

    private mutating func chunkLine(upTo limit: Int) throws -> ArraySlice<UInt8> {
        try line(upTo: limit, else: Rejection("A line of the chunked body is too long."))
    }

    private mutating func line(upTo limit: Int, else tooLong: @autoclosure () -> Rejection) throws -> ArraySlice<UInt8> {
        var length = 0
        while true {
            while start + length < buffer.count {
                let end = start + length
                length += 1
                guard buffer[end] == 10 else { continue }
                guard end > start, buffer[end - 1] == 13 else { throw Rejection("A line ends in LF without CR.") }
                let line = buffer[start..<(end - 1)]
                guard !line.contains(where: { $0 == 13 || $0 == 0 }) else {
                    throw Rejection("A line holds a CR without LF, or a NUL.")
                }
                guard line.count <= limit else { throw tooLong() }
                start = end + 1
                return line
            }
            guard length <= limit + 2 else { throw tooLong() }
            guard try fill() else { throw ConnectionEnded() }
        }
    }

    /// Receives more; false at the end. Moves what is unread to the front, so offsets count from `start`.
    private mutating func fill() throws -> Bool {
        buffer.removeSubrange(..<start)
        start = 0
        let (socket, deadline) = (socket, deadline)
        let received = try [UInt8](unsafeUninitializedCapacity: 64 << 10) { space, count in
            count = try socket.receive(into: UnsafeMutableRawBufferPointer(space), until: deadline)
        }
        if buffer.isEmpty { buffer = received } else { buffer += received }
        return !received.isEmpty
    }
}
