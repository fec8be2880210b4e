internal import Interception
public import MidstreamCore

/// A transport that answers from a closure instead of a network, and remembers what it was asked.
///
/// ```swift
/// let stub = StubTransport(status: .ok, body: .text("hello"))
/// let client = HTTPClient(transport: stub)
/// _ = try await client.send(HTTPRequest("https://example.com/"))
/// #expect(stub.requests.count == 1)
/// ```
///
/// Answers that are given beforehand come when the request's body has been read, as a server does, so that one that can be read once isn't
/// sent again; the log keeps its bytes. A closure reads the body or doesn't; an upload isn't complete by an
/// answer before its bytes have been read.
///
/// Copies share the log. Any number of tasks may send at once.
public struct StubTransport: HTTPTransport {
    /// One answer of a stub that answers in sequence.
    public struct Reply: Sendable {
        private let result: Result<(HTTPStatus, HTTPHeaders, HTTPBody), any Error>

        /// Answers with a response.
        public static func respond(_ status: HTTPStatus, headers: HTTPHeaders = [:], body: HTTPBody = .empty) -> Reply {
            Reply(result: .success((status, headers, body)))
        }

        /// Throws an error.
        public static func fail(_ error: any Error) -> Reply { Reply(result: .failure(error)) }

        /// - Parameter place: That of the request in the log.
        fileprivate func response(
            to request: HTTPRequest, at place: Int, in log: Locked<[HTTPRequest]>
        ) async throws -> HTTPResponse {
            let (status, headers, body) = try result.get()
            if request.body.bytes == nil {
                let isKept = request.body.replayability == .once
                let bytes = try await request.body.readToEnd(keepsBytes: isKept)
                // It can't be read again.
                if isKept { log.withLock { $0[place].body = .bytes(bytes) } }
            }
            return HTTPResponse(status: status, headers: headers, body: body, request: request)
        }
    }

    private let log = Locked([HTTPRequest]())
    /// Given the request and its place in the log.
    private let respond: @Sendable (HTTPRequest, Int) async throws -> HTTPResponse

    /// Answers with what the closure returns or throws.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.respond = { request, _ in try await respond(request) }
    }

    /// Gives every request the same answer.
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        let reply = Reply.respond(status, headers: headers, body: body)
        respond = { [log] in try await reply.response(to: $0, at: $1, in: log) }
    }

    /// Gives each request the next of these answers, to the first of ``requests`` the first, and so on. One request too many fails with an
    /// ``HTTPError`` of the code ``HTTPError/Code/unsupported``.
    public init(sequence replies: [Reply]) {
        respond = { [log] request, place in
            guard place < replies.count else {
                throw HTTPError(
                    .unsupported, "The stub has \(replies.count) replies, and this is request \(place + 1).",
                    request: request, phase: .notSent)
            }
            return try await replies[place].response(to: request, at: place, in: log)
        }
    }

    /// The requests that were sent so far, failed ones included, in the order in which they came.
    public var requests: [HTTPRequest] { log.withLock { $0 } }

    /// Records the request and answers it.
    ///
    /// - Throws: What the closure throws; `CancellationError` when the task is cancelled already.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let place = log.withLock { log in
            log.append(request)
            return log.count - 1
        }
        return try await respond(request, place)
    }
}
