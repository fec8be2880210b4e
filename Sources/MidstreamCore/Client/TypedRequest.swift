/// A request that knows what its answer is to be: `try await client.send(.get("users/42", as: User.self))`.
public struct TypedRequest<Value: Decodable & Sendable>: Sendable {
    /// What is sent.
    public var request: HTTPRequest
    fileprivate let decoder: (any BodyDecoder)?

    /// Makes a typed request of any request.
    ///
    /// - Parameters:
    ///   - type: What the body of the response is decoded as.
    ///   - decoder: The request's or the client's by default.
    public init(_ request: HTTPRequest, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) {
        self.request = request
        self.decoder = decoder
    }

    /// The same with any change to what is sent, such as a header or a timeout.
    public func with(_ change: (inout HTTPRequest) throws -> Void) rethrows -> Self {
        var typed = self
        try change(&typed.request)
        return typed
    }
}

/// The usual methods. Each takes a URL, absolute or relative to the client's base URL (see ``RequestURL``), and what the answer is decoded
/// as.
extension TypedRequest {
    /// A `GET`.
    public static func get(_ url: RequestURL, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) -> Self {
        Self(HTTPRequest(.get, url), decoder: decoder)
    }

    /// A `POST`.
    public static func post(
        _ url: RequestURL, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.post, url, body: body), decoder: decoder)
    }

    /// A `PUT`.
    public static func put(
        _ url: RequestURL, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.put, url, body: body), decoder: decoder)
    }

    /// A `PATCH`.
    public static func patch(
        _ url: RequestURL, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.patch, url, body: body), decoder: decoder)
    }

    /// A `DELETE`.
    public static func delete(_ url: RequestURL, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil) -> Self {
        Self(HTTPRequest(.delete, url), decoder: decoder)
    }
}

/// The same for a URL that isn't written out at the call: a `String`, which is taken as it is, or a `URL`.
extension TypedRequest {
    /// A `GET`.
    @_disfavoredOverload
    public static func get(
        _ url: some RequestURLConvertible, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.get, url.requestURL), decoder: decoder)
    }

    /// A `POST`.
    @_disfavoredOverload
    public static func post(
        _ url: some RequestURLConvertible, body: HTTPBody = .empty, as type: Value.Type = Value.self,
        decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.post, url.requestURL, body: body), decoder: decoder)
    }

    /// A `PUT`.
    @_disfavoredOverload
    public static func put(
        _ url: some RequestURLConvertible, body: HTTPBody = .empty, as type: Value.Type = Value.self,
        decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.put, url.requestURL, body: body), decoder: decoder)
    }

    /// A `PATCH`.
    @_disfavoredOverload
    public static func patch(
        _ url: some RequestURLConvertible, body: HTTPBody = .empty, as type: Value.Type = Value.self,
        decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.patch, url.requestURL, body: body), decoder: decoder)
    }

    /// A `DELETE`.
    @_disfavoredOverload
    public static func delete(
        _ url: some RequestURLConvertible, as type: Value.Type = Value.self, decoder: (any BodyDecoder)? = nil
    ) -> Self {
        Self(HTTPRequest(.delete, url.requestURL), decoder: decoder)
    }
}

extension HTTPClient {
    /// Sends a request and gives its decoded answer.
    ///
    /// Runs in the caller's task.
    ///
    /// - Throws: What ``send(_:)-(HTTPRequest)`` throws, for a rejected status too; ``HTTPError/Code/decoding`` when the body isn't what
    ///   was expected.
    public func send<Value>(_ request: TypedRequest<Value>) async throws -> Value {
        try await send(request.request).decode(Value.self, decoder: request.decoder)
    }
}
