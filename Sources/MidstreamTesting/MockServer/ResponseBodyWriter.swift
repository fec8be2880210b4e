internal import MidstreamCore

/// The body has come to the place where the fault strikes.
struct BodyCut: Error {}

/// Writes the bytes of a body with their framing, at the pace and up to the place that the fault says.
struct ResponseBodyWriter {
    private let connection: ServerConnection
    private let framing: ResponseFraming
    private let fault: Fault?
    /// What hasn't been sent yet: the head goes out together with the beginning of the body.
    private var pending: [UInt8]
    /// How many bytes may still be sent before the fault strikes.
    private var allowance: Int

    init(_ connection: ServerConnection, framing: ResponseFraming, fault: Fault?, head: [UInt8]) {
        self.connection = connection
        self.framing = framing
        self.fault = fault
        pending = head
        if case .insideBody(let bytes)? = fault?.place { allowance = max(0, bytes) } else { allowance = .max }
    }

    /// Sends what the fault demands before the body.
    mutating func begin() throws {
        switch fault {
        case .oversizeHead(let size): try fillHead(upTo: size)
        case .throttle, .dribble: try flush()
        default: break
        }
    }

    /// Sends a piece of the body, as one chunk when it is chunked.
    mutating func write(_ piece: ArraySlice<UInt8>) throws {
        guard !piece.isEmpty else { return }
        let part = piece.prefix(allowance)
        if framing == .chunked { pending += Array("\(String(piece.count, radix: 16))\r\n".utf8) }
        try put(part)
        if allowance != .max { allowance -= part.count }
        guard part.count == piece.count else {
            try flush()
            throw BodyCut()
        }
        if framing == .chunked { pending += [13, 10] }
        // A chunk is sent by itself. What isn't one is followed by the end, which flushes.
        if framing == .chunked || pending.count > 64 << 10 { try flush() }
    }

    mutating func end(trailers: HTTPHeaders?, hasBody: Bool) throws {
        if framing == .chunked, hasBody {
            if fault == .truncatedChunk {
                pending += Array("10\r\n12345678".utf8)
            } else if allowance == .max {
                pending += Array("0\r\n".utf8)
                if let trailers { pending.append(fields: trailers.bytes) }
                pending += [13, 10]
            }
        }
        try flush()
    }

    private mutating func put(_ part: ArraySlice<UInt8>) throws {
        if case .throttle(let rate)? = fault {
            try flush()
            return try throttle(part, bytesPerSecond: max(1, rate))
        }
        if pending.count + part.count <= 64 << 10 {
            pending += part
        } else {
            try flush()
            try send(part)
        }
    }

    /// Sends what has been put together so far.
    mutating func flush() throws {
        guard !pending.isEmpty else { return }
        try send(pending[...])
        pending.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: ArraySlice<UInt8>) throws {
        guard case .dribble(let delay)? = fault else { return try connection.send(bytes) }
        for index in bytes.indices {
            try connection.send(bytes[index...index])
            try connection.sleep(delay)
        }
    }

    private func throttle(_ bytes: ArraySlice<UInt8>, bytesPerSecond rate: Int) throws {
        let size = max(1, rate / 10)
        var rest = bytes
        while !rest.isEmpty {
            let slice = rest.prefix(size)
            try connection.send(slice)
            try connection.sleep(.seconds(slice.count) / rate)
            rest = rest.dropFirst(size)
        }
    }

    /// Sends fields of a kilobyte each until the head has its size, and the empty line that ends it.
    private mutating func fillHead(upTo size: Int) throws {
        let filler = Array("X-Filler: \(String(repeating: "x", count: 1012))\r\n".utf8)
        var rest = size - pending.count - 2
        try flush()
        while rest > 0 {
            try connection.send(filler)
            rest -= filler.count
        }
        pending = [13, 10]
    }
}

extension [UInt8] {
    mutating func append(field name: String, _ value: String) {
        self += Array("\(name): \(value)\r\n".utf8)
    }

    /// Adds fields in the form in which ``HTTPHeaders`` keeps them: `name:value\n`.
    mutating func append(fields: [UInt8]) {
        for line in fields.split(separator: 10) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            self += line[...colon]
            append(32)
            self += line[(colon + 1)...]
            self += [13, 10]
        }
    }
}

extension HTTPHeaders {
    /// The fields in the form in which they are kept, with another length if one is given.
    func bytes(replacingContentLength length: Int?) -> [UInt8] {
        guard let length, contains(.contentLength) else { return bytes }
        var headers = self
        headers[.contentLength] = "\(length)"
        return headers.bytes
    }
}
