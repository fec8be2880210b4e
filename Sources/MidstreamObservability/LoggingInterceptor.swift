internal import Foundation
public import Interception
public import MidstreamCore

/// Writes a line for each call: what was asked, what came of it, and how long it took. Secrets are withheld.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     .logging { logger.info("\($0)") }
/// }
/// ```
///
/// ```text
/// GET https://api.example.com/users/42 → 200 OK, 34.2 ms, 2 attempts
/// GET https://api.example.com/users/43 ✗ deadlineExceeded: The call took longer than 2.0 seconds., 2000.4 ms
/// ```
///
/// It stands at ``InterceptorStage/call``, where a rejected status is an error.
/// At ``InterceptorStage/exchange`` it writes a line for each request on the wire. Of a streamed response the line is
/// written when its head is there.
public struct LoggingInterceptor: HTTPInterceptor {
    /// Once per call, or once per exchange.
    public let stage: InterceptorStage
    /// It waits for nothing, and serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }
    private let write: @Sendable (String) -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - stage: `.call` by default.
    ///   - write: Takes a line, in the task of the call, which waits for it; by default it goes to standard error.
    public init(at stage: InterceptorStage = .call, to write: (@Sendable (String) -> Void)? = nil) {
        self.stage = stage
        self.write = write ?? Self.writeToStandardError
    }

    /// Hands everything on as it is, and writes the line.
    ///
    /// - Throws: What `next` throws.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let stopwatch = Stopwatch(on: next.clock)
        do {
            let response = try await next(request)
            let attempts = response.request.attempt > 1 && stage == .call ? ", \(response.request.attempt) attempts" : ""
            write("\(request.line(by: next.redaction)) → \(response.status), \(stopwatch.elapsed.inMilliseconds) ms\(attempts)")
            return response
        } catch {
            let failure = next.redaction.ownText(TraceRecorder.text(of: error))
            write("\(request.line(by: next.redaction)) ✗ \(failure), \(stopwatch.elapsed.inMilliseconds) ms")
            throw error
        }
    }

    /// Changes nothing.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("writes a line about it") }

    static func writeToStandardError(_ line: String) {
        // The form that throws: the other one raises an exception, which ends the process, when nobody reads any more.
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// What isn't shown of the call.
    fileprivate var redaction: Redaction { call?.owner.redaction ?? Redaction() }
}

extension ChainedHTTPInterceptor {
    /// A line on standard error for each call; see ``LoggingInterceptor``.
    public static var logging: Self { .chain(inOrder: [LoggingInterceptor()]) }

    /// A line for each call, or each exchange.
    ///
    /// - Parameters:
    ///   - stage: `.call` by default, or `.exchange`.
    ///   - write: Takes a line.
    public static func logging(
        at stage: InterceptorStage = .call, to write: @escaping @Sendable (String) -> Void
    ) -> Self {
        .chain(inOrder: [LoggingInterceptor(at: stage, to: write)])
    }
}

extension HTTPInterceptor {
    /// This one, and ``ChainedHTTPInterceptor/logging`` inside it.
    public var logging: ChainedHTTPInterceptor { chain(before: LoggingInterceptor()) }

    /// The same for a line that follows another.
    public func logging(
        at stage: InterceptorStage = .call, to write: @escaping @Sendable (String) -> Void
    ) -> ChainedHTTPInterceptor {
        chain(before: LoggingInterceptor(at: stage, to: write))
    }
}
