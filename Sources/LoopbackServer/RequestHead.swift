package import MidstreamCore

/// A request that the server doesn't take: it is answered with this status and a sentence, and the connection is closed.
package struct Rejection: Error {
    package let status: HTTPStatus
    package let text: String

    package init(_ status: HTTPStatus, _ text: String) {
        self.status = status
        self.text = text
    }

    package init(_ text: String) { self.init(.badRequest, text) }
}

/// The request line and the fields of a request, and what follows from them (RFC 9112 §3, §6).
package struct RequestHead {
    package enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    package let method: HTTPMethod
    package let target: String
    package let version: HTTPVersion
    package let headers: HTTPHeaders
    package let framing: Framing

    /// - Parameter lines: Those before the empty one, without their ends, and without NUL.
    package init(_ lines: [[UInt8]]) throws {
        let parts = (lines.first ?? []).split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, parts[0].isToken, !parts[1].isEmpty else {
            throw Rejection("The request line isn't a method, a target and a version.")
        }
        method = HTTPMethod(rawValue: parts[0])
        target = parts[1]
        switch parts[2] {
        case "HTTP/1.1": version = .http1_1
        case "HTTP/1.0": version = .http1_0
        default: throw Rejection(505, "This server speaks HTTP/1.1 and HTTP/1.0, not \(parts[2]).")
        }
        headers = try Self.fields(lines.dropFirst())
        framing = try Self.framing(headers)
        if version == .http1_1, headers.values(.host).count != 1 {
            throw Rejection("An HTTP/1.1 request must have one Host field.")
        }
    }

    static func fields(_ lines: ArraySlice<[UInt8]>) throws -> HTTPHeaders {
        var fields = HTTPHeaders.FieldBuffer()
        let token = ASCIISet.token
        for line in lines {
            let name = line.prefix { token.contains($0) }
            guard !name.isEmpty, line[name.endIndex...].first == UInt8(ascii: ":") else {
                throw Rejection("A header line isn't a name, a colon and a value.")
            }
            line.withUnsafeBytes { fields.append(line: $0) }
        }
        return HTTPHeaders(fields)
    }

    private static func framing(_ headers: HTTPHeaders) throws -> Framing {
        // One number, however often it is repeated.
        let lengths = headers.values(.contentLength)
        if let coding = headers[.transferEncoding] {
            guard lengths.isEmpty else { throw Rejection("The request has both Transfer-Encoding and Content-Length.") }
            guard coding.equalsIgnoringASCIICase("chunked") else {
                throw Rejection(.notImplemented, "The only Transfer-Encoding understood here is chunked.")
            }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.allSatisfy({ $0 == text }), text.utf8.allSatisfy({ 48...57 ~= $0 }), let length = Int(text) else {
            throw Rejection("Content-Length isn't one number.")
        }
        return length == 0 ? .none : .length(length)
    }

    /// Whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        version == .http1_1 && framing != .none
            && headers[.expect].map { $0.equalsIgnoringASCIICase("100-continue") } ?? false
    }

    /// Whether the client wants the connection kept (RFC 9112 §9.3).
    package var keepsConnection: Bool {
        let options = headers.connectionOptions
        return version == .http1_1 ? !options.contains("close") : options.contains("keep-alive")
    }
}

extension HTTPHeaders {
    /// What the `Connection` fields list, in small letters.
    package var connectionOptions: [String] { members(of: .connection).map { $0.lowercased() } }
}
