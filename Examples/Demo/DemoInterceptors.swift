import Foundation
import Midstream

/// A request interceptor: it gives the call a name that is the same on every attempt.
struct RequestID: RequestInterceptor {
    let stage = InterceptorStage.call

    func intercept(request: inout HTTPRequest) async throws {
        request.headers["X-Request-ID"] = request.id.uuidString
    }
}

/// A response interceptor: it turns a header into something that the rest of the program understands.
struct ServerTime: ResponseInterceptor {
    func intercept(response: inout HTTPResponse) async throws {
        if let milliseconds = response.headers["X-Time"] { response.headers["X-Server-Time"] = "\(milliseconds) ms" }
    }

    static func of(_ response: HTTPResponse) -> String { response.headers["X-Server-Time"] ?? "unknown" }
}

/// A full interceptor at the innermost stage: it sees exactly what goes on the wire and what comes back.
struct WireLog: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    var write: @Sendable (String) -> Void = { print($0) }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let response = try await next(request)
        write("  attempt \(request.attempt): \(request)  →  \(response.status)")
        return response
    }

    /// Shown by an explanation; without it the plan would be `.unknown`.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("prints each exchange") }
}
