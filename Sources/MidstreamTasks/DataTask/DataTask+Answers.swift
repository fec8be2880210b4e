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

    /// The same for a type that is decodable only where the caller is, such as on the main actor, or that isn't `Sendable`. Decoded there.
    public nonisolated(nonsending) func value<Value: Decodable>(
        _ type: Value.Type, decoder: (any BodyDecoder)? = nil
    ) async throws -> Value {
        try JSONPart(try await result()).decode(type, by: decoder)
    }
}

extension RequestTask where Element == TaskResult<Data> {
    /// Asks for the result and gives its body, also to what is annotated as `Data`, which could be decoded as well: ``data()``.
    ///
    /// - Throws: What ``data()`` throws.
    public func value() async throws -> Data { try await data() }

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

    /// The same for a type that is decodable only where the caller is, such as on the main actor, or that isn't `Sendable`. Decoded there.
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

    /// Asks for the result and gives its body as text, read as ``HTTPResponse/string()`` reads it.
    ///
    /// - Throws: What ``data()`` throws; ``HTTPError/Code/decoding`` when the body isn't text of its charset, or that isn't known.
    public func string() async throws -> String {
        let result = try await result()
        return try result.anyResponse.text(of: try result.get())
    }
}
