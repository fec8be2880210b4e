public import Foundation
public import MidstreamCore
public import MidstreamTasks

/// A task that answers without a network, for tests and previews.
///
/// ```swift
/// let news: any RequestTask<News> = MockedTask { News(title: "Rain") }
/// let failing = MockedTask<News> { throw HTTPError(.timeout) }
/// let refused = MockedTask(status: .unauthorized, body: #"{"error": "expired"}"#)
/// ```
public struct MockedTask<Element: Sendable>: RequestTask {
    private let answer: @Sendable () async throws -> Element

    /// Answers with what the closure returns or throws; it is called for each result.
    public init(_ answer: @escaping @Sendable () async throws -> Element) { self.answer = answer }

    /// Answers.
    ///
    /// - Throws: What the closure throws; `CancellationError` when the caller's task is cancelled.
    public func result() async throws -> Element {
        try Task.checkCancellation()
        return try await answer()
    }
}

extension MockedTask where Element == TaskResult<Data> {
    /// Answers like a ``DataTask`` with the default validators: a status outside 200..<400 is rejected.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: String = "") {
        self.init(status: status, headers: headers, data: Data(body.utf8))
    }

    /// Answers like a ``DataTask`` with the default validators: a status outside 200..<400 is rejected.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], data: Data) {
        let response = HTTPResponse(
            status: status, headers: headers, body: .data(data), request: HTTPRequest("http://mocked.invalid/"))
        let isAccepted = HTTPStatusSet.successAndRedirect.contains(status)
        let result = TaskResult(
            response, payload: data, rejection: isAccepted ? nil : .unacceptableStatus(response))
        answer = { result }
    }
}
