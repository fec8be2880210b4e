public import Foundation
public import MidstreamCore

/// The short ways to an answer. Each sends the request.
extension DataTask {
    /// Sends the request and gives the response, its body in memory.
    ///
    /// - Throws: What ``HTTPClient/send(_:)->HTTPResponse`` throws, for a rejected status too.
    public func response() async throws -> HTTPResponse { try await client.send(newCall()) }

    /// Sends the request and gives the response while its body is still arriving. Read it to its end or close it.
    ///
    /// - Throws: What ``HTTPClient/stream(_:)`` throws, for a rejected status too.
    public func stream() async throws -> HTTPResponse { try await client.stream(newCall()) }
}

/// The payload, whatever stands before it.
extension RequestTask {
    /// Asks for the result and gives it.
    ///
    /// - Throws: What the task throws.
    @_disfavoredOverload
    public func value() async throws -> Element { try await result() }

    /// Asks for the result and gives its payload: what `decode`, `keyPath` and the like have made of the body.
    ///
    /// ```swift
    /// let user = try await client.get("users/42").decode(User.self).value()
    /// ```
    ///
    /// - Throws: What the task throws, and the ``TaskResult/rejection`` of its status.
    public func value<Payload>() async throws -> Payload where Element == TaskResult<Payload> { try await result().get() }
}

extension RequestTask where Element == Data {
    /// Asks for the data and decodes it.
    ///
    /// - Parameter decoder: A plain `JSONDecoder` by default.
    /// - Throws: What the task throws; ``HTTPError/Code/decoding``, with the place of the unexpected data.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try await decode(type, decoder: decoder).result()
    }

    /// The same for a type that is decodable only where the caller is, such as on the main actor. Decoded there.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value: Decodable>(
        _ type: Value.Type, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try JSONPart(try await result()).decode(type, by: decoder)
    }
}

extension RequestTask where Element == TaskResult<Data> {
    /// Asks for the result and decodes its body.
    ///
    /// - Parameter decoder: nil, the default: the request's (``HTTPRequest/decoder``) or the client's.
    /// - Throws: What the task throws; the ``TaskResult/rejection`` of its status; ``HTTPError/Code/decoding``, which says where the
    ///   body isn't what was expected.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try await decode(type, decoder: decoder).result().payload
    }

    /// The same for a type that is decodable only where the caller is, such as on the main actor. Decoded there.
    @_disfavoredOverload
    public nonisolated(nonsending) func value<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        let result = try await result()
        return try JSONPart(try result.get(), of: result).decode(type, by: decoder)
    }

    /// Asks for the result and gives its body.
    ///
    /// - Throws: What the task throws, and the ``TaskResult/rejection`` of its status.
    public func data() async throws -> Data { try await result().get() }

    /// Asks for the result and gives its body as text, by the charset of its `Content-Type`; UTF-8 when it names none.
    ///
    /// - Throws: What ``data()`` throws; ``HTTPError/Code/decoding`` when the body isn't text of that charset, or the charset is
    ///   none of UTF-8, UTF-16, ISO 8859-1 and US-ASCII.
    public func string() async throws -> String {
        let result = try await result()
        let data = try result.get()
        let named = result.head.headers[.contentType].flatMap { FieldValueScanner.parameter("charset", of: $0) }
        let charset = named?.lowercased() ?? "utf-8"
        guard let encoding = Self.encodings[charset], let text = String(data: data, encoding: encoding) else {
            throw HTTPError(
                .decoding, "The body is no text of the charset \(charset.debugDescription).",
                request: result.anyResponse.request, response: result.anyResponse)
        }
        return text
    }

    private static var encodings: [String: String.Encoding] {
        [
            "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "iso-8859-1": .isoLatin1, "utf-16": .utf16,
            "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
        ]
    }
}
