internal import LoopbackServer
internal import MidstreamCore

/// Writes one response, with whatever goes wrong with it.
struct ResponseWriter {
    private let response: MockServer.Response
    private let request: RequestHead?
    private let connection: ServerConnection
    private let framing: ResponseFraming
    private let hasBody: Bool
    private let isKept: Bool

    /// - Parameter request: nil for the answer to something that isn't a request.
    init(_ response: MockServer.Response, to request: RequestHead?, on connection: ServerConnection) {
        let response = response.withHeadFault(connection.server.random)
        self.response = response
        self.request = request
        self.connection = connection
        framing = Self.framing(of: response, to: request)
        let code = response.status.code
        hasBody = request?.method != .head && code >= 200 && code != 204 && code != 304
        isKept =
            request?.keepsConnection ?? false && !response.headers.connectionOptions.contains("close")
            && (response.version == .http1_1 || response.headers.connectionOptions.contains("keep-alive"))
            && !(hasBody && framing == .untilClose)
    }

    private static func framing(of response: MockServer.Response, to request: RequestHead?) -> ResponseFraming {
        let isAskedFor = response.headers[.transferEncoding].map { $0.equalsIgnoringASCIICase("chunked") } ?? false
        // A length that is said of a body whose length isn't known leaves its end to the connection.
        let endsLast = response.closeDelimited || response.saysLength && response.body.length == nil
        let usual = endsLast ? .untilClose : response.body.length.map { ResponseFraming.length(Int(clamping: $0)) } ?? .chunked
        let wants = isAskedFor || response.trailers != nil || response.fault == .truncatedChunk ? .chunked : usual
        guard wants == .chunked else { return wants }
        let understands = request.map { $0.version == .http1_1 } ?? true
        return understands && response.version == .http1_1 ? .chunked : .untilClose
    }

    /// Writes the response and says what becomes of the connection. A fault that ends it has closed it on return, and throws.
    mutating func write() throws -> ConnectionFate {
        if let complaint {
            var writer = Self(
                .init(status: .internalServerError, body: "The scripted response \(complaint).\n"), to: request, on: connection)
            return try writer.write()
        }
        if request?.version == .http1_1 {
            for interim in response.interim { try connection.send(interimHead(interim)) }
        }
        try connection.sleep(response.delay)
        try strike(at: .beforeHead)
        if case .garbage(let bytes)? = response.fault {
            try connection.send(bytes)
            return .over
        }

        let head = head()
        if strikes(at: .insideHead) {
            try connection.send(head.prefix(max(1, head.count / 2)))
            try strike(at: .insideHead)
        }
        var body = ResponseBodyWriter(connection, framing: framing, fault: response.fault, head: head)
        try body.begin()
        if hasBody { try write(response.body, to: &body) }
        try body.end(trailers: hasBody ? response.trailers : nil, hasBody: hasBody)
        if case .insideBody? = response.fault?.place { try strike() }
        try strike(at: .afterResponse)
        if endsConnection { return .over }
        return isAgreement ? .upgraded : isKept ? .kept : .over
    }

    private func write(_ content: HTTPBody, to body: inout ResponseBodyWriter) throws {
        do {
            if let bytes = content.bytes {
                try body.write(bytes[...])
            } else {
                // The first chunk may be long in coming.
                try body.flush()
                try writeChunks(of: content, to: &body)
            }
        } catch is BodyCut {
            try strike()
        }
    }

    /// Writes what is produced meanwhile. If that isn't as much as the head says, the connection ends: more would be taken for the next
    /// response, and for what is missing the client would wait.
    private func writeChunks(of content: HTTPBody, to body: inout ResponseBodyWriter) throws {
        var rest = if case .length(let length) = framing { length } else { Int.max }
        let chunks = ChunkReader(content)
        while let chunk = try connection.wait({ try await chunks.next() }) {
            try body.write(chunk.prefix(rest))
            try body.flush()
            rest -= chunk.count
            if rest < 0 { try strike() }
        }
        if case .length = framing, rest > 0 { try strike() }
    }

    /// Why the response can't be sent as it was scripted; nil when it can.
    private var complaint: String? {
        if let refused = response.headers.refused.first ?? response.trailers?.refused.first {
            return "has a header field that can't be sent: \(refused)"
        }
        if hasBody, response.body.isSpent { return "has a body that could be read once, and was" }
        if case .insideBody(let count)? = response.fault?.place {
            guard count >= 0 else { return "has a fault after \(count) bytes of its body" }
            let length = hasBody ? response.body.length : 0
            if let length, count > length { return "has a fault after \(count) bytes of its body, which has \(length)" }
        }
        if case .error(let code)? = response.fault { return "has a fault that a server can't bring about: \(code)" }
        if response.fault == .truncatedChunk, !hasBody || framing != .chunked {
            return "has a fault in the framing of a chunked body, which it hasn't"
        }
        if isAgreement, response.declaredLength != nil { return "has a fault in the length of a body, which it hasn't" }
        // Both framings together are for who asks for them by name.
        if hasBody, framing == .chunked, response.saysLength, !response.headers.contains(.transferEncoding) {
            return "has a length, and trailers or a fault that need chunks"
        }
        return nil
    }

    // MARK: The head

    private func head() -> [UInt8] {
        let reason = response.reason ?? response.status.reason
        var head = Array("\(response.version) \(response.status.code) \(reason)\r\n".utf8)
        head.append(fields: response.headers.bytes(replacingContentLength: response.declaredLength))
        let given = response.headers
        // To a HEAD, too, which has the fields of a GET (RFC 9110 §9.3.2).
        let allowsFraming = response.status.code >= 200 && response.status != .noContent && response.status != .notModified
        if let contentType = response.body.contentType, allowsFraming, !given.contains(.contentType) {
            head.append(field: "Content-Type", contentType)
        }
        if !response.saysLength, !given.contains(.transferEncoding) {
            switch framing {
            case .length(let length) where allowsFraming: head.append(field: "Content-Length", "\(length)")
            case .chunked where allowsFraming: head.append(field: "Transfer-Encoding", "chunked")
            default: break
            }
        }
        if let declared = response.declaredLength, !given.contains(.contentLength) {
            head.append(field: "Content-Length", "\(declared)")
        }
        if !given.contains(.connection), response.fault?.place != .afterResponse {
            if !isKept {
                head.append(field: "Connection", "close")
            } else if request?.version == .http1_0 {
                head.append(field: "Connection", "keep-alive")
            }
        }
        if case .oversizeHead = response.fault { return head }
        return head + [13, 10]
    }

    private func interimHead(_ interim: MockServer.Interim) -> [UInt8] {
        var head = Array("HTTP/1.1 \(interim.status.code) \(interim.status.reason)\r\n".utf8)
        head.append(fields: interim.headers.bytes)
        return head + [13, 10]
    }

    /// Whether the connection becomes a socket; with another status, it is the answer of a server that knows none.
    private var isAgreement: Bool { response.socket != nil && response.status.code == 101 }

    /// Whether what follows the head isn't what that says, so that no other response can come after it.
    private var endsConnection: Bool {
        if response.fault == .truncatedChunk || response.declaredLength != nil { return true }
        guard hasBody, framing != .chunked, let length = response.headers[.contentLength] else { return false }
        return Int64(length) != response.body.length
    }

    // MARK: Faults

    private func strikes(at place: Fault.Place) -> Bool { response.fault?.place == place }

    private func strike(at place: Fault.Place) throws {
        if strikes(at: place) { try strike() }
    }

    private func strike() throws -> Never {
        switch response.fault {
        case .reset: connection.socket.reset()
        case .stall: try connection.stall()
        default: connection.socket.finish()
        }
        throw ConnectionEnded()
    }
}

extension MockServer.Response {
    fileprivate var declaredLength: Int? { if case .wrongContentLength(let declared)? = fault { declared } else { nil } }
    fileprivate var saysLength: Bool { headers.contains(.contentLength) || declaredLength != nil }

    /// The response with those faults that are another response, or another one on the wire.
    fileprivate func withHeadFault(_ random: SimulatedRandom) -> MockServer.Response {
        var response = self
        response.fault = nil
        switch fault {
        case .delay(let time): response.delay += time.time(random)
        case .status(let status): response = .init(status: status, delay: delay, interim: interim, version: version)
        case .error(.connectionLost): response.fault = .disconnect(.beforeHead)
        case .error(.timeout): response.fault = .stall(.beforeHead)
        case .error(.protocolViolation): response.fault = .garbage(Array("no HTTP\r\n\r\n".utf8))
        default: response.fault = fault
        }
        return response
    }
}
