public import MidstreamCore

/// Requests as tasks. Nothing is sent until the task is asked for its result.
extension HTTPClient {
    /// A task that sends a request.
    public func task(_ request: HTTPRequest) -> DataTask { DataTask(request, client: self) }

    /// A task of any method.
    public func task(_ method: HTTPMethod, _ url: String, body: HTTPBody = .empty) -> DataTask {
        task(HTTPRequest(method, url, body: body))
    }

    /// A `GET`.
    public func get(_ url: String) -> DataTask { task(.get, url) }

    /// A `HEAD`.
    public func head(_ url: String) -> DataTask { task(.head, url) }

    /// A `POST`.
    public func post(_ url: String, body: HTTPBody = .empty) -> DataTask { task(.post, url, body: body) }

    /// A `PUT`.
    public func put(_ url: String, body: HTTPBody = .empty) -> DataTask { task(.put, url, body: body) }

    /// A `PATCH`.
    public func patch(_ url: String, body: HTTPBody = .empty) -> DataTask { task(.patch, url, body: body) }

    /// A `DELETE`.
    public func delete(_ url: String, body: HTTPBody = .empty) -> DataTask { task(.delete, url, body: body) }

    /// An `OPTIONS`.
    public func options(_ url: String) -> DataTask { task(.options, url) }
}
