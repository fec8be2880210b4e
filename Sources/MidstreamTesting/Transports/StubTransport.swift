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

        fileprivate func response(to request: HTTPRequest, _ log: Locked<[HTTPRequest]>) async throws -> HTTPResponse {
            let (status, headers, body) = try result.get()
            if request.body.bytes == nil {
                let isKept = request.body.replayability == .once
                let bytes = try await request.body.readToEnd(keepsBytes: isKept)
                // It can't be read again.
                log.withLock { log in
                    guard isKept, let place = log.lastIndex(where: { $0.id == request.id }) else { return }
                    log[place].body = .bytes(bytes)
                }
            }
            return HTTPResponse(status: status, headers: headers, body: body, request: request)
        }
    }

    private let log = Locked([HTTPRequest]())
    private let respond: @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// Answers with what the closure returns or throws.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.respond = respond
    }

    /// Gives every request the same answer.
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        let reply = Reply.respond(status, headers: headers, body: body)
        respond = { [log] in try await reply.response(to: $0, log) }
    }

    /// Gives each request the next of these answers. One request too many fails with an ``HTTPError`` of the code
    /// ``HTTPError/Code/unsupported``.
    public init(sequence replies: [Reply]) {
        let next = Locked(0)
        respond = { [log] request in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard index < replies.count else {
                throw HTTPError(
                    .unsupported, "The stub has \(replies.count) replies, and this is request \(index + 1).",
                    request: request, phase: .notSent)
            }
            return try await replies[index].response(to: request, log)
        }
    }

    /// The requests that were sent so far, failed ones included, in the order in which they came.
    public var requests: [HTTPRequest] { log.withLock { $0 } }

    /// Records the request and answers it.
    ///
    /// - Throws: What the closure throws; `CancellationError` when the task is cancelled already.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        log.withLock { $0.append(request) }
        return try await respond(request)
    }
}
