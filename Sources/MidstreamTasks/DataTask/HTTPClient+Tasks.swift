public import MidstreamCore

/// Requests as tasks. Nothing is sent before `result()` is called.
///
/// What is interpolated into a URL is percent-encoded; see ``RequestURL``.
extension HTTPClient {
    /// A task that sends a request.
    public func task(_ request: HTTPRequest) -> DataTask { DataTask(request, client: self) }

    /// A task of any method.
    public func task(_ method: HTTPMethod, _ url: RequestURL, body: HTTPBody = .empty) -> DataTask {
        task(HTTPRequest(method, url, body: body))
    }

    /// A `GET`.
    public func get(_ url: RequestURL) -> DataTask { task(.get, url) }

    /// A `HEAD`.
    public func head(_ url: RequestURL) -> DataTask { task(.head, url) }

    /// A `POST`.
    public func post(_ url: RequestURL, body: HTTPBody = .empty) -> DataTask { task(.post, url, body: body) }

    /// A `PUT`.
    public func put(_ url: RequestURL, body: HTTPBody = .empty) -> DataTask { task(.put, url, body: body) }

    /// A `PATCH`.
    public func patch(_ url: RequestURL, body: HTTPBody = .empty) -> DataTask { task(.patch, url, body: body) }

    /// A `DELETE`.
    public func delete(_ url: RequestURL, body: HTTPBody = .empty) -> DataTask { task(.delete, url, body: body) }

    /// An `OPTIONS`.
    public func options(_ url: RequestURL) -> DataTask { task(.options, url) }
}

/// Requests with a value as their body, encoded by the client's ``Configuration/encoder``.
extension HTTPClient {
    /// A `POST` with a value as its body.
    ///
    /// - Throws: What the encoder throws.
    public func post(_ url: RequestURL, json value: some Encodable) throws -> DataTask { try task(.post, url).json(value) }

    /// A `PUT` with a value as its body.
    ///
    /// - Throws: What the encoder throws.
    public func put(_ url: RequestURL, json value: some Encodable) throws -> DataTask { try task(.put, url).json(value) }

    /// A `PATCH` with a value as its body.
    ///
    /// - Throws: What the encoder throws.
    public func patch(_ url: RequestURL, json value: some Encodable) throws -> DataTask { try task(.patch, url).json(value) }
}

/// The same for a URL that isn't written out at the call: a `String`, which is taken as it is, or a `URL`.
extension HTTPClient {
    /// A task of any method.
    @_disfavoredOverload
    public func task(_ method: HTTPMethod, _ url: some RequestURLConvertible, body: HTTPBody = .empty) -> DataTask {
        task(HTTPRequest(method, url.requestURL, body: body))
    }

    /// A `GET`.
    @_disfavoredOverload
    public func get(_ url: some RequestURLConvertible) -> DataTask { task(.get, url.requestURL) }

    /// A `HEAD`.
    @_disfavoredOverload
    public func head(_ url: some RequestURLConvertible) -> DataTask { task(.head, url.requestURL) }

    /// A `POST`.
    @_disfavoredOverload
    public func post(_ url: some RequestURLConvertible, body: HTTPBody = .empty) -> DataTask {
        task(.post, url.requestURL, body: body)
    }

    /// A `PUT`.
    @_disfavoredOverload
    public func put(_ url: some RequestURLConvertible, body: HTTPBody = .empty) -> DataTask {
        task(.put, url.requestURL, body: body)
    }

    /// A `PATCH`.
    @_disfavoredOverload
    public func patch(_ url: some RequestURLConvertible, body: HTTPBody = .empty) -> DataTask {
        task(.patch, url.requestURL, body: body)
    }

    /// A `DELETE`.
    @_disfavoredOverload
    public func delete(_ url: some RequestURLConvertible, body: HTTPBody = .empty) -> DataTask {
        task(.delete, url.requestURL, body: body)
    }

    /// An `OPTIONS`.
    @_disfavoredOverload
    public func options(_ url: some RequestURLConvertible) -> DataTask { task(.options, url.requestURL) }
}
