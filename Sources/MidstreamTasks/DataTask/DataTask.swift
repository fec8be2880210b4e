public import Foundation
public import MidstreamCore

/// A request as a task: what to send, and the client that is to send it.
///
/// ```swift
/// let user = try await client.get("users/42")
///     .query("full", "1")
///     .header(.accept, "application/json")
///     .timeout(.seconds(5))
///     .retries(3)
///     .value(User.self)
/// ```
///
/// Methods that shape the request come first and give a `DataTask` again; modifiers of any task follow. Each `result()` is a call of
/// its own: it has its own ``HTTPRequest/id``, trace and retries.
public struct DataTask: RequestTask {
    /// What is sent.
    public var request: HTTPRequest
    /// Who sends it.
    public let client: HTTPClient

    /// Makes a task.
    public init(_ request: HTTPRequest, client: HTTPClient) {
        self.request = request
        self.client = client
    }

    /// Sends the request and gives what the server answered, of whatever status, with the body in memory.
    ///
    /// - Throws: What ``HTTPClient/send(_:)->HTTPResponse`` throws, a rejected status excepted whose body could be read: that is the
    ///   result's ``TaskResult/rejection``.
    public func result() async throws -> TaskResult<Data> {
        try await answer(client.send, isInMemory: true) { $0.data }
    }

    /// The same request as a task whose body is still arriving when the result is there.
    ///
    /// Read the body to its end (`collectData` does) or close it. See ``HTTPClient/stream(_:)``.
    public func streamed() -> AnyRequestTask<TaskResult<HTTPBody>> {
        AnyRequestTask { try await answer(client.stream, isInMemory: false) { $0.body } }
    }

    private func answer<Payload>(
        _ send: (HTTPRequest) async throws -> HTTPResponse, isInMemory: Bool, _ payload: (HTTPResponse) -> Payload
    ) async throws -> TaskResult<Payload> {
        let request = newCall()
        do {
            let response = try await send(request)
            return TaskResult(response, payload: payload(response), rejection: nil)
        } catch let error as HTTPError {
            guard let response = error.rejectedResponse(to: request), !isInMemory || response.body.bytes != nil else {
                throw error
            }
            return TaskResult(response, payload: payload(response), rejection: error)
        }
    }

    /// The request as the next call sends it.
    package func newCall() -> HTTPRequest {
        var request = request.asNewCall()
        let terms = TaskEnvironmentValues.current.requestTerms
        if let observer = terms.observer {
            request.interceptors.append(TransferInterceptor(observer: observer))
        }
        let retries = request.maxRetries ?? client.configuration.maxRetries
        if let repetition = terms.repetition, repetition.number > 1, retries > 0 {
            request.interceptors.append(RepetitionNote(repetition: repetition, retries: retries))
        }
        if request.timeout == nil { request.timeout = terms.timeout }
        return request
    }
}

extension HTTPError {
    /// The response that an error gives up only because of its status; nil for any other error, which is thrown at once.
    ///
    /// The response has to be one to the request itself: an interceptor may throw what a request of its own, such as one for a
    /// token, came back with.
    fileprivate func rejectedResponse(to request: HTTPRequest) -> HTTPResponse? {
        switch code {
        case .unacceptableStatus:
            // A body that was given up is no answer.
            guard bodyShortfall == nil || response?.body.bytes == nil else { return nil }
            return response?.request.id == request.id ? response : nil
        case .retriesExhausted:
            // The reason for the last retry decides: a status, or a connection that broke.
            return (underlying as? HTTPError)?.rejectedResponse(to: request)
        default:
            return nil
        }
    }
}
