package import Interception
package import MidstreamCore

/// Answers a rejection by itself.
package struct AnsweredChallenge: HTTPInterceptor {
    package init() {}

    package var stage: InterceptorStage { .exchange }
    package var traits: InterceptorTraits { .givesUpAnswers }

    package func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let response = try await next(request)
        guard response.status == .unauthorized else { return response }
        var answer = request
        answer.giveUp(response)
        answer.headers[.authorization] = "answer"
        return try await next(answer)
    }
}
