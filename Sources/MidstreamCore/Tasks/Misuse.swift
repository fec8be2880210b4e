public import Foundation

// What is written by mistake, so that the compiler names the remedy instead of a list of constraints.
extension RequestTask {
    /// For a task without a body to decode.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> or Data can be decoded. Put decode right behind the request, keyPath or collectData."
    )
    public func decode<Value>(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) -> AnyRequestTask<Value> {
        AnyRequestTask { throw HTTPError(.unsupported) }
    }

    /// For a task without a JSON body.
    @available(
        *, unavailable,
        message: "Only a TaskResult<Data> or Data has JSON to go into. Put keyPath before decode, and behind collectData."
    )
    public func keyPath(_ path: KeyPath<JSONPath, JSONPath>) -> AnyRequestTask<Data> {
        AnyRequestTask { throw HTTPError(.unsupported) }
    }

    /// For a task whose result is the payload already.
    @available(
        *, unavailable,
        message: "Only a TaskResult has a payload to extract; this task gives the payload already. Leave extractPayload out."
    )
    public func extractPayload() -> AnyRequestTask<Element> { AnyRequestTask(self) }

    /// For a task that has lost its status.
    @available(
        *, unavailable, message: "Only a TaskResult has a status. Put acceptOnlyStatusCode before extractPayload and map."
    )
    public func acceptOnlyStatusCode(_ statuses: HTTPStatusSet) -> AnyRequestTask<Element> { AnyRequestTask(self) }

    /// For a task that has lost its status.
    @available(*, unavailable, message: "Only a TaskResult has a status. Put onStatusCode before extractPayload and map.")
    public func onStatusCode(
        _ statuses: HTTPStatusSet, _ perform: @escaping @Sendable () async throws -> Void
    ) -> AnyRequestTask<Element> {
        AnyRequestTask(self)
    }

    /// For a task without a stream.
    @available(
        *, unavailable,
        message: "Only a body that is still arriving can be collected. Use client.get(…).streamed().collectData()."
    )
    public func collectData() -> AnyRequestTask<Element> { AnyRequestTask(self) }
}

extension RequestTask where Element == TaskResult<Data> {
    /// For a result that is to be a model.
    @available(
        *, unavailable, message: "The body isn't decoded yet. Use value(T.self), or decode(T.self).extractPayload().result()."
    )
    public func result<Value: Decodable>() async throws -> Value { throw HTTPError(.unsupported) }
}

extension RequestTask where Element == Data {
    /// For a result that is to be a model.
    @available(*, unavailable, message: "The body isn't decoded yet. Put decode(T.self) before result().")
    public func result<Value: Decodable>() async throws -> Value { throw HTTPError(.unsupported) }
}
