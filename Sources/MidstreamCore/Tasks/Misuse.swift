public import Foundation

// What is written by mistake, so that the compiler names the remedy instead of a list of constraints. Where one of these gives a type
// that leads nowhere, it is to keep the compiler from taking it for the right call and another one for the mistake.

extension RequestTask {
    /// For a task without a body to decode.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> or Data can be decoded. Put decode right behind the request, keyPath or collectData."
    )
    public func decode<Value>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) -> AnyRequestTask<TaskResult<Value>> { deadEnd() }

    /// For a task without a JSON body.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> or Data has JSON to go into. Put keyPath before decode, and behind collectData."
    )
    public func keyPath(_ path: KeyPath<JSONPath, JSONPath>) -> AnyRequestTask<Data> { deadEnd() }

    /// For a task whose result is the payload already.
    @available(
        *, unavailable,
        message: "Only a TaskResult has a payload to extract; this task gives the payload already. Leave extractPayload out."
    )
    public func extractPayload() -> AnyRequestTask<Never> { deadEnd() }

    /// For a task without a stream.
    @available(
        *, unavailable, message: "Only a body that is still arriving can be collected: client.get(…).streamed().collectData()."
    )
    public func collectData() -> AnyRequestTask<TaskResult<Data>> { deadEnd() }

    /// For a task without a body to take out.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> has a body to take out. Of a decoded task, take extractPayload().result()."
    )
    public func value<Value>(_ type: Value.Type = Value.self) async throws -> Value { deadEnd() }

    /// For a task without a body to take out.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> has a body to take out. Of a decoded task, take extractPayload().result()."
    )
    public func data() async throws -> Data { deadEnd() }

    /// For a task without a body to take out.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> has a body to take out. Of a decoded task, take extractPayload().result()."
    )
    public func string() async throws -> String { deadEnd() }
}

extension RequestTask {
    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put this before extractPayload and map."
    )
    public func acceptOnlyStatusCode(_ statuses: HTTPStatusSet) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put this before extractPayload and map."
    )
    public func onStatusCode(
        _ status: HTTPStatus, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put this before extractPayload and map."
    )
    public func onStatusCode(
        _ status: HTTPStatus, _ perform: @escaping @Sendable (Element) async throws -> Void
    ) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put this before extractPayload and map."
    )
    public func onStatusCode(
        _ status: HTTPStatusSet, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put this before extractPayload and map."
    )
    public func onStatusCode(
        _ status: HTTPStatusSet, _ perform: @escaping @Sendable (Element) async throws -> Void
    ) -> AnyRequestTask<Element> { deadEnd() }
}

extension RequestTask {
    /// For a task that is no longer the bare request.
    @available(
        *, unavailable, message: "The request is shaped before the first modifier: client.get(…).header(…).decode(…)."
    )
    public func header(_ name: HTTPHeaders.Name, _ value: String) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that is no longer the bare request.
    @available(
        *, unavailable, message: "The request is shaped before the first modifier: client.get(…).header(…).decode(…)."
    )
    public func query(_ name: String, _ value: String?) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that is no longer the bare request.
    @available(
        *, unavailable, message: "The request is shaped before the first modifier: client.get(…).header(…).decode(…)."
    )
    public func body(_ body: HTTPBody) -> AnyRequestTask<Element> { deadEnd() }

    /// For a task that is no longer the bare request.
    @available(
        *, unavailable, message: "The request is shaped before the first modifier: client.get(…).header(…).decode(…)."
    )
    public func retries(_ retries: Int) -> AnyRequestTask<Element> { deadEnd() }
}

extension RequestTask where Element == TaskResult<Data> {
    /// For a result that is to be a model.
    @available(
        *, unavailable, message: "The body isn't decoded yet. Use value(T.self), or decode(T.self).extractPayload().result()."
    )
    public func result<Value: Decodable>() async throws -> Value { deadEnd() }

    /// For a result that is to be a model alone.
    @available(
        *, unavailable, message: "decode keeps the head of the response. Put extractPayload() behind it."
    )
    public func decode<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) -> AnyRequestTask<Value> { deadEnd() }
}

extension RequestTask where Element == Data {
    /// For a result that is to be a model.
    @available(
        *, unavailable, message: "The body isn't decoded yet. Put decode(T.self) before result()."
    )
    public func result<Value: Decodable>() async throws -> Value { deadEnd() }
}

/// The body of what can't be called.
private func deadEnd() -> Never { preconditionFailure("The compiler lets nobody call this.") }
