import Midstream

/// Sends a request again with a credential when it is rejected without.
struct OwnChallenge: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.signing
    let traits: InterceptorTraits = [.endsInTime, .givesUpAnswers]

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let response = try await next(request)
        guard response.status == .unauthorized, request.body.replayability == .replayable else { return response }
        var answer = request
        answer.giveUp(response)
        answer.headers[.authorization] = "answer"
        return try await next(answer)
    }

    func identity(of request: HTTPRequest) -> RequestIdentity { .user("answer") }
}
