public import Foundation

/// A request that knows what its answer is to be: `try await client.send(.get("users/42", as: User.self))`.
public struct TypedRequest<Value: Decodable & Sendable>: Sendable {
    /// What is sent.
    public var request: HTTPRequest
    private let decoder: JSONDecoder

    /// Makes a typed request of any request.
    ///
    /// - Parameters:
    ///   - type: What the JSON body of the response is decoded as.
    ///   - decoder: A plain `JSONDecoder` by default.
    public init(_ request: HTTPRequest, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) {
        self.request = request
        self.decoder = decoder
    }

    /// The same with any change to what is sent, such as a header or a timeout.
    public func with(_ change: (inout HTTPRequest) throws -> Void) rethrows -> Self {
        var typed = self
        try change(&typed.request)
        return typed
    }

    fileprivate func value(of response: HTTPResponse) throws -> Value { try response.decode(Value.self, decoder: decoder) }
}

/// The usual methods. Each takes a URL, absolute or relative to the client's base URL, and what the answer is decoded as.
extension TypedRequest {
    /// A `GET`.
    public static func get(_ url: String, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) -> Self {
        Self(HTTPRequest(url), decoder: decoder)
    }

    /// A `POST`.
    public static func post(
        _ url: String, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) -> Self {
        Self(HTTPRequest(.post, url, body: body), decoder: decoder)
    }

    /// A `PUT`.
    public static func put(
        _ url: String, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) -> Self {
        Self(HTTPRequest(.put, url, body: body), decoder: decoder)
    }

    /// A `PATCH`.
    public static func patch(
        _ url: String, body: HTTPBody = .empty, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) -> Self {
        Self(HTTPRequest(.patch, url, body: body), decoder: decoder)
    }

    /// A `DELETE`.
    public static func delete(_ url: String, as type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) -> Self {
        Self(HTTPRequest(.delete, url), decoder: decoder)
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
        try request.value(of: try await send(request.request))
    }
}
