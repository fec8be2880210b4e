package import Interception
package import MidstreamCore

/// Answers a rejection by itself, once or as often as it is told.
package struct AnsweredChallenge: HTTPInterceptor {
    private let times: Int

    package init(times: Int = 1) { self.times = times }

    package var stage: InterceptorStage { .exchange }
    package var traits: InterceptorTraits { .givesUpAnswers }

    package func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        for _ in 0..<times {
            let response = try await next(request)
            guard response.status == .unauthorized else { return response }
            request.giveUp(response)
            request.headers[.authorization] = "answer"
        }
        return try await next(request)
    }
}
